/** Judgements of answers of a proxy to requests without a key. Pure. */
import type { FindingName } from "../finding.ts";
import type { Arrived } from "./echo-service.ts";
import type { Heard } from "./heard.ts";
import type { Mistake } from "./mistakes.ts";

/** Outcome of one request: its answer, and what of it reached the service, if doctor is that service. */
export type Outcome = { readonly heard: Heard; readonly arrived: readonly Arrived[] | undefined };

/** Judgement of one request, under the finding that it belongs to. */
export type Judgement =
  | { readonly is: "fine"; readonly of: FindingName; readonly what: string }
  | { readonly is: "mistake"; readonly mistake: Mistake; readonly what: string }
  | { readonly is: "unchecked"; readonly of: FindingName; readonly what: string; readonly because: string };

export const fine = (of: FindingName, what: string): Judgement => ({ is: "fine", of, what });
export const mistake = (mistake: Mistake, what: string): Judgement => ({ is: "mistake", mistake, what });
export const unchecked = (of: FindingName, what: string, because: string): Judgement => ({
  ...{ is: "unchecked", of, what, because },
});

/** Describes an answer in a few words. */
export function inShort(heard: Heard): string {
  if (heard.is === "nothing") return "none";
  return heard.is === "refusal" ? `${heard.status} ${heard.code}` : String(heard.status);
}

export const NO_ANSWER = "no answer came";
const REFUSED = "requests without a key, or with an unknown one, are refused";
const IN_OTHER_WORDS = "the answer is not the verifier's: --authz-echo shows whether the proxy gave it, or the service";

/**
 * Judges a request that no key goes with: nothing of it may reach the service.
 *
 * @param what the request in words
 * @param elsewhere answer to a path that no service has, without a key: where a site answers each path alike, a success
 *   proves nothing
 */
export function judgeKeyless(
  what: string,
  { heard, arrived }: Outcome,
  elsewhere: Heard,
  passed: Extract<Mistake, "unprotected" | "spelling"> = "unprotected",
): Judgement {
  const of = "proxy-keys";
  if (arrived !== undefined && arrived.length > 0) return mistake(passed, `${what} reaches the service without a key`);
  if (heard.is === "refusal") return fine(of, REFUSED);
  if (heard.is === "nothing") return unchecked(of, what, NO_ANSWER);
  if (heard.is === "success") {
    const isOfAll = elsewhere.is === "success" && elsewhere.body === heard.body;
    if (isOfAll) return unchecked(of, what, "the proxy answers each path that it does not protect alike");
    if (arrived !== undefined) return unchecked(of, what, "another service than --authz-echo answers it");
    return mistake(passed, `${what} is answered with ${heard.status} without a key`);
  }
  if (heard.status >= 500) return mistake("answers", `${what} is answered with ${heard.status}, not by the verifier`);
  return arrived === undefined ? unchecked(of, what, IN_OTHER_WORDS) : fine(of, REFUSED);
}

/** Judges a HEAD without a key, whose answer has no text. */
export function judgeHead(what: string, outcome: Outcome, elsewhere: Heard): Judgement {
  const { heard, arrived = [] } = outcome;
  if (heard.is === "other" && heard.status === 401 && arrived.length === 0) return fine("proxy-keys", REFUSED);
  return judgeKeyless(what, outcome, elsewhere);
}

/**
 * Judges a request that the verifier refuses before it looks for a key, such as one with a key in its query. 401 says that
 * it was shown another one.
 *
 * @param status the verifier's answer to the request itself
 * @param as the mistake, if another was shown
 */
export function judgeShown(
  what: string,
  { heard, arrived }: Outcome,
  status: 400 | 403,
  as: Extract<Mistake, "target" | "claim">,
): Judgement {
  const of = "proxy-requests";
  if (heard.is === "success" || (arrived?.length ?? 0) > 0) {
    return mistake("unprotected", `a request passes without a key, of which the verifier is not shown ${what}`);
  }
  if (heard.is === "nothing") return unchecked(of, what, NO_ANSWER);
  if (heard.is === "refusal") {
    return heard.code === "unauthorized"
      ? mistake(as, `the verifier is not shown ${what}`)
      : fine(of, "the verifier is shown requests as they are sent, also beside headers of other proxies");
  }
  if (arrived !== undefined && heard.status < 500 && status === 403) return fine(of, "the proxy refuses odd methods");
  const isLost = heard.status >= 500 || (heard.status === 403 && status !== 403);
  return isLost
    ? mistake("answers", `the verifier's ${status} reaches callers as ${heard.status}, and without its text`)
    : unchecked(of, what, IN_OTHER_WORDS);
}

/** True if the verifier, or the proxy itself, refuses a header that came without a key. */
export function isHeaderRefused({ heard }: Outcome): boolean {
  return heard.is === "other" || (heard.is === "refusal" && heard.code !== "unauthorized");
}

/** States that an answer of the verifier's reaches callers. */
export const reaches = (status: number): Judgement => fine("proxy-answers", `the verifier's ${status} reaches callers`);
