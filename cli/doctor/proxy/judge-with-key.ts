/** Judgements of answers of a proxy to requests with a good key, and to what comes right after them. Pure. */
import type { Heard } from "./heard.ts";
import { fine, inShort, type Judgement, mistake, NO_ANSWER, type Outcome, reaches, unchecked } from "./judge.ts";

/** Judges the request that a good key may make. */
export function judgeGood(request: string, { heard, arrived }: Outcome): Judgement {
  const of = "proxy-keys";
  const what = `${request} with the key`;
  const passes = fine(of, "the key of --key-file passes");
  if (arrived !== undefined && arrived.length > 0) return passes;
  if (heard.is === "nothing") return unchecked(of, what, NO_ANSWER);
  if (heard.is === "refusal") return judgeRefusedKey(what, heard);
  if (arrived !== undefined)
    return mistake("echo", `${what} is answered with ${heard.status}, and not by --authz-echo`);
  if (heard.is === "success") return passes;
  const because = `the answer is ${heard.status}, and not the verifier's: give a URL that the service answers with 200`;
  return unchecked(of, what, because);
}

function judgeRefusedKey(what: string, heard: Extract<Heard, { is: "refusal" }>): Judgement {
  const said = `${what} is refused with ${inShort(heard)}: ${heard.detail}`;
  if (heard.code === "unauthorized") return mistake("key refused", `${what} is refused with 401`);
  if (heard.code === "address_not_allowed") return mistake("address", said);
  const isLimitedToModels = heard.detail.startsWith("This list is made by Keyplane's own gateway");
  return isLimitedToModels || heard.code === "rate_limited"
    ? unchecked("proxy-keys", what, `the verifier says: ${heard.detail}`)
    : mistake("call refused", said);
}

/** Judges the verifier's 404, for a path that a gateway does not have, with a good key. */
export function judgeNotFound(what: string, { heard }: Outcome): Judgement {
  if (heard.is === "refusal" && heard.status === 404) return reaches(404);
  if (heard.is === "other" && (heard.status >= 500 || heard.status === 403)) {
    return mistake("answers", `the verifier's 404 reaches callers as ${heard.status}, and without its text`);
  }
  return unchecked("proxy-answers", what, `the answer is ${inShort(heard)}`);
}

const NEEDS_LIMITED_KEY = "the verifier reads no body for this key: give one with allowedModels";

/**
 * Judges a call whose model the verifier looks at, if the key is limited to models.
 *
 * @param without answer to such a call, if this one calls its body compressed
 */
export function judgeModelBody(what: string, { heard }: Outcome, without?: Heard): Judgement {
  const of = "proxy-bodies";
  if (heard.is === "nothing") return unchecked(of, what, NO_ANSWER);
  if (heard.is === "other" && heard.status === 413) return mistake("size", `${what} is refused by the proxy with 413`);
  if (heard.is === "other" && heard.status >= 500) return unchecked(of, what, `the answer is ${heard.status}`);
  if (heard.is !== "refusal") return unchecked(of, what, NEEDS_LIMITED_KEY);
  if (/shows no body to a verifier/.test(heard.detail)) {
    return fine(of, "the proxy shows no bodies, and calls that need them are refused");
  }
  if (/show the verifier all of the body/.test(heard.detail)) {
    return mistake("hidden", `the verifier is not shown all of ${what}`);
  }
  const isUnseen = without?.is === "refusal" && without.detail === heard.detail;
  if (isUnseen && isOfModel(heard)) {
    return mistake("coding", `the verifier is not shown that ${what} is called compressed`);
  }
  const isRead = isOfModel(heard) || (without !== undefined && /uncompressed/.test(heard.detail));
  return isRead ? fine(of, `the verifier is shown ${what}`) : unchecked(of, what, `the answer is ${inShort(heard)}`);
}

/** True for a refusal of a model, for which the verifier has read the body. */
function isOfModel(heard: Extract<Heard, { is: "refusal" }>): boolean {
  return /model/i.test(heard.detail) && (heard.code === "forbidden" || heard.code === "not_found");
}

/**
 * Judges the request after one with a body. If a proxy announces a body to the verifier and does not send it, the verifier
 * takes as much out of the next question.
 *
 * @param before outcome of the request with the body: the verifier closes the connection if it refuses
 */
export function judgeNext(before: Outcome, { heard }: Outcome): Judgement {
  const of = "proxy-bodies";
  const what = "whether a request with a body disturbs the next";
  const isRefused = before.heard.is === "refusal" || (before.heard.is === "other" && before.heard.status === 413);
  if (isRefused) return unchecked(of, what, `it is refused (${inShort(before.heard)})`);
  if (before.heard.is === "nothing" || heard.is === "nothing") return unchecked(of, what, NO_ANSWER);
  return heard.is === "refusal"
    ? fine(of, "a request with a body disturbs none that comes after it")
    : mistake("length", `right after a request with a body another is answered with ${inShort(heard)}`);
}
