import { counted } from "../../counted.ts";
import { type AdvicePoint, type AdvisedSpec, type KeyUse, type Peak, requestsWithin } from "./key-use.ts";

/** Factor between the advised rate and the average of the busiest five minutes. */
const RATE_MARGIN = 2;
const MINUTES = 5;
/** Number of intervals that a rush may lie in: the busiest interval then has only half of it. */
const INTERVALS = 2;
/** Part of a key's calls of models that have a counted answer, at least, where a limit of tokens is advised. */
const ANSWERED_PART = 0.9;
/** Highest values that a PlatformKey may declare. */
const MAX_REQUESTS = 1_000_000;
const MAX_TOKENS = 100_000_000;

type Limits = NonNullable<AdvisedSpec["rateLimit"]>;

/** Advises limits at the highest use of the key, with a margin. */
export function adviseLimits(use: KeyUse): AdvicePoint {
  const { spec, peakRequests, peakTokens } = use;
  const requests = requestLimit(peakRequests, spec.rateLimit);
  const tokens = tokenLimit(use, spec.rateLimit);
  const why = [
    ...said(peakRequests, "request", requests.why),
    ...(peakTokens.hour === 0 ? [] : said(peakTokens, "token", tokens.why)),
    "Calls at the same time are not counted.",
  ].join(" ");
  const limits = { ...requests.limits, ...tokens.limits };
  if (Object.keys(limits).length === 0) return { field: "rateLimit", change: {}, why };
  return { field: "rateLimit", change: { rateLimit: { ...spec.rateLimit, ...limits } }, why };
}

type Advised = { readonly limits: Partial<Limits>; readonly why: string };

function requestLimit(peak: Peak, known: Limits | undefined): Advised {
  const atOnce = atOnceOf(peak);
  const rate = Math.max(1, Math.ceil((RATE_MARGIN * atOnce) / MINUTES));
  // Never more than the key may do now.
  const declared = known?.burst ?? known?.requestsPerMinute ?? Number.POSITIVE_INFINITY;
  const burst = Math.min(declared, Math.max(rate, INTERVALS * atOnce));
  if (burst > MAX_REQUESTS) return { limits: {}, why: "That is beyond what a limit can say." };
  if ((known?.requestsPerMinute ?? Number.POSITIVE_INFINITY) <= rate)
    return { limits: {}, why: "The limit is no wider." };
  return {
    limits: { requestsPerMinute: rate, burst },
    why: `The rate is ${RATE_MARGIN} times the average of these five minutes, and the burst lets ${INTERVALS} times all of them through at once: a rush may lie on both sides of their border.`,
  };
}

function tokenLimit(use: KeyUse, known: Limits | undefined): Advised {
  const { peakTokens, answers, answersWithoutTokens } = use;
  const most = atOnceOf(peakTokens);
  if (most === 0) return { limits: {}, why: "" };
  if (answersWithoutTokens > 0) {
    return { limits: {}, why: `No limit is advised: of ${answersWithoutTokens} answers not all tokens are known.` };
  }
  const calls = requestsWithin(use, ["gateway:generate", "gateway:embed"]);
  const answered = answers.reduce((sum, one) => sum + one.calls, 0);
  if (answered < ANSWERED_PART * calls) {
    return {
      limits: {},
      why: `No limit is advised: of ${counted(calls, "call")} ${counted(answered, "answer")} were counted, and a proxy's call, whose answer is not seen, would be refused.`,
    };
  }
  if (most > MAX_TOKENS) return { limits: {}, why: "That is beyond what a limit can say." };
  if ((known?.tokensPerMinute ?? Number.POSITIVE_INFINITY) <= most)
    return { limits: {}, why: "The limit is no wider." };
  return {
    limits: { tokensPerMinute: most },
    why: `The limit lets all of these five minutes through within one, ${MINUTES} times their average; a call that may use more than that waits until nothing else is owed.`,
  };
}

/** Returns the most within five minutes. Older times, known only by the hour, are assumed to be as uneven. */
function atOnceOf({ fiveMinutes, recentHour, hour }: Peak): number {
  if (hour <= recentHour) return fiveMinutes;
  return recentHour === 0 ? hour : Math.min(hour, Math.ceil((fiveMinutes * hour) / recentHour));
}

function said(peak: Peak, noun: string, why: string): string[] {
  const { fiveMinutes, recentHour, hour } = peak;
  const known = `The busiest five minutes of the last eight days had ${fiveMinutes} ${noun}s.`;
  const scaled = `An hour before that had ${hour}, where the busiest of these days had ${recentHour}: ${atOnceOf(peak)} within five minutes are taken for that.`;
  return [known, ...(hour > recentHour ? [scaled] : []), why].filter((text) => text !== "");
}
