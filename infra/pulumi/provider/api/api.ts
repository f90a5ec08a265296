import { setTimeout as delay } from "node:timers/promises";
import { connectionAdvice } from "../../../../domain/connection-advice.ts";
import { connectionErrorText, isBrokenConnection } from "../../../../domain/error-text.ts";
import { parseJson } from "../../../../domain/parse-json.ts";
import { rfc3339 } from "../../../../domain/rfc3339.ts";
import type { ProviderConfig } from "../config.ts";
import { atMost } from "./at-most.ts";
import { Refusal, UnreachableError } from "./refusal.ts";
import { TokenError, tokenEnd, tokenSource } from "./token.ts";

/** Client of the management API under `/api/v1` (docs/reference/management-api.md). */
export type Api = {
  /**
   * Sends a request, and repeats it if no answer came. A POST has an Idempotency-Key and a PUT an entity tag, with
   * which the server does nothing twice and the repetition finds it done.
   *
   * @throws Refusal, UnreachableError, TokenError
   */
  send(method: Method, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>;
};

type Method = "GET" | "POST" | "PUT" | "DELETE";

export type ApiAnswer = {
  readonly body: unknown;
  readonly etag: string;
  /** True if the Idempotency-Key was known, and nothing has been done now. */
  readonly replayed: boolean;
};

/**
 * Longest wait for an answer, in milliseconds. The server waits for all replicas, 10 s at most; hundreds of changes at
 * once form a queue besides.
 */
const TIMEOUT_MS = 120_000;
/**
 * Largest number of concurrent requests. A team may have 128 requests wait for the server's database; a program may
 * make thousands of keys at once.
 */
const MOST_AT_ONCE = 64;
/**
 * Number of attempts if the server is busy or an answer is lost, and the longest wait between two of them in
 * milliseconds.
 */
const TRIES = 4;
const MAX_WAIT_MS = 5_000;
/**
 * Statuses of a server, or a proxy before it, that has no answer now. After a 429 nothing has been done; after the
 * others it may have been.
 */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function openApi(config: ProviderConfig): Api {
  const { url } = config;
  const tokens = tokenSource(config);
  const atMostAtOnce = atMost(MOST_AT_ONCE);

  async function once(method: Method, path: string, body: object | undefined, headers: Record<string, string>) {
    const token = await tokens.read();
    const answer = await ask(token);
    if (answer.status !== 401) return answer;
    const fresh = await tokens.read();
    const again = fresh === token ? answer : await ask(fresh);
    if (again.status === 401) throw new TokenError(refusedToken(fresh));
    return again;

    function ask(token: string): Promise<Response> {
      return fetch(`${url}/api/v1/${path}`, {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch((error: unknown) => {
        const advice = connectionAdvice(error, "see that the server runs there and that keyplane:url is right");
        throw new UnreachableError(
          `no answer from ${url} (${connectionErrorText(error)}): ${advice}, then run it again`,
          { cause: error },
        );
      });
    }
  }

  function refusedToken(token: string): string {
    const end = tokenEnd(token);
    const why = end !== undefined && end <= Date.now() ? `: it ended at ${rfc3339(end)}` : "";
    return `${url} refuses the token of ${tokens.where}${why}. Get a new one, and run it again`;
  }

  async function whole(ask: () => Promise<Response>): Promise<{ answer: Response; text: string }> {
    const answer = await ask();
    const text = await answer.text().catch((error: unknown) => {
      throw new UnreachableError(`the answer of ${url} broke off (${connectionErrorText(error)}): run it again`, {
        cause: error,
      });
    });
    return { answer, text };
  }

  /** Repeats a request whose connection broke. */
  async function insist(ask: () => Promise<Response>): ReturnType<typeof whole> {
    for (let tries = 1; ; tries++) {
      try {
        return await whole(ask);
      } catch (error) {
        if (tries === TRIES || !isBrokenConnection(error)) throw error;
        await delay(1_000 * tries);
      }
    }
  }

  return {
    send: (...request) => atMostAtOnce(() => send(...request)),
  };

  function refusalOf(status: number, json: unknown, mayBeDone: boolean): Refusal | UnreachableError {
    const refusal = new Refusal(status, json, mayBeDone);
    if (refusal.code === "" && BUSY.has(status)) {
      return new UnreachableError(`${url} answers with ${status}, as a proxy does whose server is away: run it again`);
    }
    if (json !== undefined) return refusal;
    return new UnreachableError(
      `${url} answers (${status}) as no Keyplane server does: see that keyplane:url is right`,
    );
  }

  async function send(...[method, path, body, headers = {}]: Parameters<Api["send"]>): Promise<ApiAnswer> {
    const all = { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    for (let tries = 1, mayBeDone = false; ; tries++) {
      let sent = 0;
      const { answer, text } = await insist(() => {
        sent++;
        return once(method, path, body, all);
      });
      mayBeDone ||= sent > 1;
      const json = parseJson(text);
      if (answer.ok && json !== undefined) {
        const replayed = answer.headers.get("idempotency-replayed") === "true";
        return { body: json, etag: answer.headers.get("etag") ?? "*", replayed };
      }
      const isBusy = BUSY.has(answer.status);
      if (!isBusy || tries === TRIES) throw refusalOf(answer.status, json, mayBeDone);
      mayBeDone ||= answer.status !== 429;
      await delay(Math.min(MAX_WAIT_MS, 1_000 * (Number(answer.headers.get("retry-after")) || 1)));
    }
  }
}
