import type { KeptObjects } from "../../../domain/access/gateway-operations.ts";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { Problem } from "../../http/problems/problem.ts";
import type { KeptReference } from "./reference-scan.ts";
import { type AnswerReading, answerObject, type JsonObject, objectOf, UNREADABLE } from "./whole-answer.ts";

/** Object that an answer brings, and its end in milliseconds since the epoch; undefined if it says none. */
export type Expiring = KeptReference & { readonly endsAt: number | undefined };

/**
 * Reads the object that a call has made, and has its owner recorded before the answer goes on, which stays as it is.
 *
 * @param record returns the problem to answer if the owner could not be recorded
 */
export function broughtObject(
  { kind, within }: NonNullable<KeptObjects["brought"]>,
  record: (upstream: UpstreamRecord, made: Expiring) => Promise<Problem | undefined>,
): AnswerReading {
  return {
    async take(upstream, body) {
      const answer = answerObject(body);
      if (answer === undefined) return UNREADABLE;
      const object = within === undefined ? answer : objectOf(answer[within]);
      const id = object?.id;
      // What has no id cannot be named.
      if (object === undefined || typeof id !== "string" || id === "") return { body };
      return (await record(upstream, { kind, id, endsAt: endOf(object) })) ?? { body };
    },
  };
}

/** Returns the end that an object states: seconds since the epoch at OpenAI, a date elsewhere. */
function endOf({ expires_at: end }: JsonObject): number | undefined {
  const time = typeof end === "number" ? end * 1_000 : typeof end === "string" ? Date.parse(end) : Number.NaN;
  return Number.isFinite(time) ? time : undefined;
}
