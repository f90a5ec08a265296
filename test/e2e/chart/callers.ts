import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** How callers were answered. */
export type Calls = {
  /** Answers by status; `error` is what came in place of one. */
  readonly counts: ReadonlyMap<string, number>;
  stop(): Promise<void>;
};

/** Between two calls of one caller, in milliseconds. */
const PAUSE_MS = 20;
/** That a call may take, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/**
 * Two callers that call without end, one on connections that it keeps and one on a new one for each call. A server may
 * close a kept connection just as a call is on its way: that is for clients to repeat (RFC 9112 §9.3.1), once.
 */
export function startCallers(url: string, key: string): Calls {
  const counts = new Map<string, number>();
  let isOver = false;
  async function call(agent: Agent): Promise<void> {
    while (!isOver) {
      const ask = () => answerOf(url, key, agent);
      const outcome = await ask()
        .catch((error: unknown) => (error instanceof LostConnection ? ask() : Promise.reject(error)))
        .catch((error: unknown) => `error: ${String(error)}`);
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      await delay(PAUSE_MS);
    }
    agent.destroy();
  }
  const callers = [call(new Agent({ keepAlive: true })), call(new Agent())];
  return {
    counts,
    async stop() {
      isOver = true;
      await Promise.all(callers);
    },
  };
}

/** A connection that had been used before has ended without an answer. */
class LostConnection extends Error {}

function answerOf(url: string, key: string, agent: Agent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { authorization: `Bearer ${key}` };
  const outgoing = request(`${url}/atoms?limit=1`, { agent, headers, timeout: MAX_WAIT_MS }, (response) => {
    response
      .on("error", reject)
      .on("end", () => resolve(String(response.statusCode)))
      .resume();
  });
  outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in time")));
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    reject(outgoing.reusedSocket && error.code === "ECONNRESET" ? new LostConnection() : error);
  });
  outgoing.end();
  return promise;
}
