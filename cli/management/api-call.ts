/** Call of a server's API, with an error message for a person if it fails. */
import { setTimeout as delay } from "node:timers/promises";
import { SUBJECT_HEADER } from "../../domain/access/subject.ts";
import { connectionAdvice } from "../../domain/connection-advice.ts";
import { connectionErrorText, isBrokenConnection } from "../../domain/error-text.ts";
import { searchedText } from "../../domain/key/secret/searched-text.ts";
import { UsageError } from "../command/usage-error.ts";

/** Server that is called, and the credential for it. */
export type Target = {
  /** URL without a slash at its end. */
  readonly url: string;
  /** Token of the installation, or a key. */
  readonly credential: string;
  /** Error message for a refused credential. */
  readonly refused: string;
  /** Subject whose memory is meant, for a key that serves many subjects. */
  readonly subject?: string | undefined;
  /** Signal that ends calls without an answer. */
  readonly signal?: AbortSignal | undefined;
};

/** Longest wait for an answer, in milliseconds. The server itself waits for its replicas for three seconds at most. */
const TIMEOUT_MS = 30_000;

/** Number of attempts for a request with an Idempotency-Key, and the wait after the first one in milliseconds. */
const TRIES = 4;
const PAUSE_MS = 1_000;

/**
 * Calls a path below /api/v1.
 *
 * @param idempotencyKey if given, the request is repeated when the server is busy or the connection ends before the
 *   answer
 * @throws Error if the call is refused, or there is no valid answer
 * @throws UsageError for a path or a query with a key in it
 */
export async function callApi<T>(
  target: Target,
  method: "GET" | "POST" | "PATCH",
  path: string,
  body?: object,
  idempotencyKey?: string,
): Promise<T> {
  refuseKeyIn(path);
  const tries = idempotencyKey === undefined ? 1 : TRIES;
  const { status, text } = await insist(() => send(target, { method, path, body, idempotencyKey }), tries, target);
  if (status < 200 || status > 299) throw new Error(refusalMessage(target, status, text));
  return parseJson(target, text);
}

type CallAnswer = { readonly status: number; readonly text: string };

/** Repeats a request that may have been done without an answer, or that a busy server has refused. */
async function insist(ask: () => Promise<CallAnswer>, tries: number, { signal }: Target): Promise<CallAnswer> {
  for (let left = tries - 1; ; left--) {
    try {
      const answer = await ask();
      if (answer.status !== 503 || left === 0) return answer;
    } catch (error) {
      if (left === 0 || !isBrokenConnection(error)) throw error;
    }
    await delay((tries - left) * PAUSE_MS, undefined, { signal });
  }
}

/**
 * Checks the URL in a flag, and returns it without a slash at its end.
 *
 * @throws UsageError for anything but http or https, and for a URL with a password, a query or a fragment
 */
export function serverUrl(flag: string, text: string): string {
  const [, path] = /(\/api\/v1|\/dashboard)\/*$/.exec(parsedUrl(text)?.pathname ?? "") ?? [];
  if (path !== undefined) {
    throw new UsageError(`--${flag}: name the server alone, without ${path}: such a path is put behind it`);
  }
  plainUrl(flag, text);
  return text.replace(/\/+$/, "");
}

/**
 * Checks the URL in a flag.
 *
 * @throws UsageError for anything but http or https, and for a URL with a password, a query or a fragment
 */
export function plainUrl(flag: string, text: string): URL {
  const url = parsedUrl(text);
  if (url !== undefined && [url.username, url.password, url.search, url.hash].every((part) => part === "")) return url;
  // It is not shown: there may be a password in it, or a key.
  throw new UsageError(
    `--${flag}: must be an http or https URL without a user, a password or a query, such as https://keys.example.com`,
  );
}

function parsedUrl(text: string): URL | undefined {
  return /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}

/** Refuses a path with a key in it: URLs end up in the logs of every proxy. */
function refuseKeyIn(path: string): void {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  const texts = [decodeURIComponent(pathname), ...searchParams.values()];
  if (texts.every((text) => searchedText(text) === text)) return;
  throw new UsageError("a key belongs on no command line, which others can list, and in no URL: nothing was sent");
}

type CallRequest = {
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
  readonly idempotencyKey: string | undefined;
};

async function send(
  { url, credential, subject, signal }: Target,
  { method, path, body, idempotencyKey }: CallRequest,
): Promise<CallAnswer> {
  try {
    const answer = await fetch(`${url}/api/v1/${path}`, {
      method,
      redirect: "error",
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])]),
      headers: {
        authorization: `Bearer ${credential}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        ...(subject === undefined ? {} : { [SUBJECT_HEADER]: subject }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    const advice = connectionAdvice(error, "see that the server runs there, and that the URL is right");
    throw new Error(`no answer from ${url} (${connectionErrorText(error)}): ${advice}`, { cause: error });
  }
}

function parseJson<T>({ url }: Target, text: string): T {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${url} answers with something else than JSON: see that it is the URL of a keyplane server`);
  }
}

/** Advice for a missing subject, by the flag of the command; the server names the header that programs send. */
const SUBJECT_REQUIRED = "This key serves many subjects: say whose memory is meant by --subject";

/**
 * Returns what a person should do about a refusal, from the problem document. A refused credential, a missing subject,
 * and a body that is too large, which a proxy refuses too, have texts of their own.
 */
function refusalMessage({ url, refused }: Target, status: number, text: string): string {
  if (status === 401) return refused;
  if (status === 413) return "The body is larger than the server, or a proxy before it, takes (413)";
  try {
    const { code, detail }: { code?: unknown; detail?: unknown } = JSON.parse(text);
    if (typeof code === "string" && typeof detail === "string") {
      const advice = code === "subject_required" ? SUBJECT_REQUIRED : detail;
      return `${advice} (${status} ${code})`;
    }
  } catch {
    // Not a problem document: not one of our servers.
  }
  return `${url} answers with ${status}: see that it is the URL of a keyplane server`;
}
