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

/** Two callers that call without end, one on connections that it keeps and one on a new one for each call. */
export function startCallers(url: string, key: string): Calls {
  const counts = new Map<string, number>();
  let isOver = false;
  async function call(agent: Agent): Promise<void> {
    while (!isOver) {
      const outcome = await answerOf(url, key, agent).catch((error: unknown) => `error: ${String(error)}`);
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

function answerOf(url: string, key: string, agent: Agent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { authorization: `Bearer ${key}` };
  const outgoing = request(`${url}/atoms?limit=1`, { agent, headers, timeout: MAX_WAIT_MS }, (response) => {
    response
      .on("error", reject)
      .on("end", () => resolve(String(response.statusCode)))
      .resume();
  });
  outgoing
    .on("timeout", () => outgoing.destroy(new Error("no answer in time")))
    .on("error", reject)
    .end();
  return promise;
}
