/**
 * Requests to the API server, on kept connections. We set no limit to their rate, which is for the server's priority
 * and fairness to decide, but there is a limit to how many are under way.
 */
import { setTimeout as delay } from "node:timers/promises";
import { sanitizeUntrusted } from "../../../../domain/redact.ts";
import type { LogLine } from "../../../../runtime/log-line.ts";
import { type EndedAnswer, parseAnswer, retryDelayOf } from "./answer.ts";
import { ApiError } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import { type ApiRequest, createTransport, REUSED, type Transport } from "./transport.ts";

/** Number of attempts at a request that the server was too busy for, if the request sets no other. */
const MAX_ATTEMPTS = 8;

export type ApiClient = {
  /**
   * Sends a request and resolves with the answer's JSON. A request that the server was too busy for (429) is sent
   * again.
   *
   * @throws ApiError
   */
  request(request: ApiRequest): Promise<unknown>;
  readonly stream: Transport["stream"];
  /** Makes writes, except the leader election's, depend on `mayWrite` from now on, beside the guards set before. */
  guardWrites(mayWrite: () => boolean, why?: string): void;
  close(): void;
};

export type ApiClientOptions = {
  readonly connection: Connection;
  readonly random: () => number;
  readonly log: LogLine;
  /** Called with the status of each answer, and with null for each request that got none. */
  readonly onAnswer?: (method: string, status: number | null) => void;
};

export function createApiClient({ connection, random, log, onAnswer }: ApiClientOptions): ApiClient {
  const warned = new Set<string>();
  const guards: { readonly mayWrite: () => boolean; readonly why: string }[] = [];
  const transport = createTransport({
    connection,
    onWarning: tellWarning,
    ...(onAnswer === undefined ? {} : { onAnswer }),
  });

  /** Logs a warning of the API server once, such as of an unknown field in a status, or of a version that will go. */
  function tellWarning(header: string): void {
    if (warned.has(header)) return;
    warned.add(header);
    log("warn", `the API server warns: ${sanitizeUntrusted(header, 500)}`);
  }

  async function request(what: ApiRequest): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const guard = guards.find(({ mayWrite }) => !mayWrite());
      if (what.method !== "GET" && what.isElection !== true && guard !== undefined) {
        throw new ApiError(0, "NotAllowed", `${guard.why}: nothing was sent`);
      }
      let answer: EndedAnswer;
      try {
        answer = await transport.send(what);
      } catch (error) {
        // The server had already closed the kept connection; a read can be repeated.
        if (what.method === "GET" && attempt === 1 && error instanceof ApiError && error.reason === REUSED) continue;
        throw error;
      }
      if (answer.status === 401 && attempt === 1) connection.renew();
      else if (answer.status === 429 && attempt < (what.maxAttempts ?? MAX_ATTEMPTS))
        await delay(retryDelayOf(answer, random), undefined, what);
      else return parseAnswer(answer);
    }
  }

  return {
    request,
    stream: transport.stream,
    guardWrites(mayWrite, why = "this process does not lead any more") {
      guards.push({ mayWrite, why });
    },
    close: transport.close,
  };
}
