import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";

/** Reason for which an upstream gave no answer. */
export type UpstreamFailure = {
  /** Answer to the client, without anything of the error, which may hold the URL, an address or a credential. */
  readonly shown: Problem;
  /** True if a fallback may be asked instead: this upstream did not take the call, or did not answer in time. */
  readonly refused: boolean;
  /** Error for the log, which redacts it. */
  readonly error: unknown;
};

const UNUSABLE = problem("bad_gateway");
const UNREACHABLE = problem(
  "bad_gateway",
  "The upstream cannot be reached. Your key is not at fault: the server's log says why, under this request's id.",
);
const TOO_LATE = problem("gateway_timeout");
const REDIRECTED = problem(
  "bad_gateway",
  "The upstream redirects the call, which is not followed. Your key is not at fault: the owner of the gateway corrects the upstream's base URL.",
);

/** Failure of an answer that went on for a while and then stopped. */
export const STALLED: UpstreamFailure = { shown: TOO_LATE, refused: true, error: undefined };

const REFUSED = problem("upstream_credential_refused");
const CREDENTIAL_WANTED = problem(
  "upstream_credential_refused",
  "The upstream asks for a credential, and this gateway is declared to have none for it. Your key is not at fault: the owner of the gateway gives the upstream a credential.",
);

/** Returns a failure that is ours to mend, and not the caller's: another upstream may take its credential. */
export function credentialRefused({ credential }: UpstreamRecord): UpstreamFailure {
  return { shown: credential === false ? CREDENTIAL_WANTED : REFUSED, refused: true, error: undefined };
}

const NO_HEAD = "UND_ERR_HEADERS_TIMEOUT";
/** Codes of the dispatcher's errors that are timeouts to a client. */
const TIMEOUTS: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  NO_HEAD,
  "UND_ERR_BODY_TIMEOUT",
  "ETIMEDOUT",
]);

/**
 * Classifies an error of the dispatcher.
 *
 * @param sent true if the request was written to a socket: before, no upstream can have acted on it
 */
export function upstreamFailure(error: unknown, sent: boolean): UpstreamFailure {
  if (error instanceof RedirectError) return { shown: REDIRECTED, refused: false, error };
  const code = codeOf(error);
  if (typeof code === "string" && TIMEOUTS.has(code)) return { shown: TOO_LATE, refused: true, error };
  const [shown, refused] = sent ? [UNUSABLE, false] : [UNREACHABLE, true];
  return { shown, refused, error };
}

/** True if a request that was written was given up while the upstream was at work on it, which may go on. */
export function mayGoOnAfter(error: unknown): boolean {
  return codeOf(error) === NO_HEAD;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** True if an answer of this status makes a route's fallback the next to ask (spec §4). */
export function isFallbackStatus(status: number): boolean {
  return status === 429 || status >= 500;
}

/** True if an upstream says by its status alone that it does not take the gateway's credential. */
export function refusesCredential(status: number): boolean {
  return status === 401;
}

/**
 * True if the body of such an answer may say that the credential is refused: Gemini answers 400 with the reason
 * `API_KEY_INVALID`.
 */
export function mayRefuseCredential({ dialect }: UpstreamRecord, status: number): boolean {
  return dialect === "gemini" && status === 400;
}

/**
 * Pattern of that reason in the JSON of an answer. Its quotes distinguish it from a text of the caller's that the
 * upstream repeats: there they are escaped.
 */
export const REFUSED_CREDENTIAL_REASON = /"reason"\s*:\s*"API_KEY_INVALID"/;

/** Error for an upstream that redirects: following it would carry the request to an address that is not declared. */
export class RedirectError extends Error {
  constructor(status: number) {
    super(`the upstream answers with ${status}, a redirect, which is not followed: see its base URL`);
  }
}

/** True if an answer redirects. It is never followed, and never shown: clients would follow it with our key. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}
