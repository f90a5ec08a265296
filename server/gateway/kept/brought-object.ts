import type { KeptObjects } from "../../../domain/access/gateway-operations.ts";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { Problem } from "../../http/problems/problem.ts";
import type { KeptReference } from "./reference-scan.ts";
import { type AnswerReading, answerObject, type JsonObject, objectOf, UNREADABLE } from "./whole-answer.ts";

/** Object that an answer brings, and its end in milliseconds since the epoch; undefined if it says none. */
export type Expiring = KeptReference & { readonly endsAt: number | undefined };

type BroughtDeps = {
  /** Returns the id of an object. */
  readonly idOf: (object: JsonObject) => string | undefined;
  /** Returns an object as clients are shown it: the same one if nothing is to be changed. */
  readonly show: (object: JsonObject, id: string | undefined) => JsonObject;
  /** Records the owners of what an object says that it has made; returns the problem to answer if that fails. */
  readonly recordYields: (upstream: UpstreamRecord, objects: readonly JsonObject[]) => Promise<Problem | undefined>;
  /** Records the object's owner; returns the problem to answer if it could not be recorded. */
  readonly record: (upstream: UpstreamRecord, made: Expiring) => Promise<Problem | undefined>;
};

/** Reads the object that a call has made, and has its owner recorded before the answer goes on. */
export function broughtObject(
  { kind, within }: NonNullable<KeptObjects["brought"]>,
  { idOf, show, record, recordYields }: BroughtDeps,
): AnswerReading {
  return {
    async take(upstream, body) {
      const answer = await answerObject(body);
      if (answer === undefined) return UNREADABLE;
      const object = within === undefined ? answer : objectOf(answer[within]);
      const id = object && idOf(object);
      if (object === undefined) return { body };
      const shown = show(object, id);
      const changed = within === undefined ? shown : { ...answer, [within]: shown };
      // What has no id cannot be named.
      const unrecorded = id ? await record(upstream, { kind, id, endsAt: endOf(object) }) : undefined;
      const refusal = unrecorded ?? (await recordYields(upstream, [object]));
      return refusal ?? { body: shown === object ? body : Buffer.from(JSON.stringify(changed)) };
    },
  };
}

/** Reads an object that is shown in another way than the upstream has it. */
export function shownObject({
  idOf,
  show,
  recordYields,
}: Pick<BroughtDeps, "idOf" | "show" | "recordYields">): AnswerReading {
  return {
    async take(upstream, body) {
      const answer = await answerObject(body);
      if (answer === undefined) return UNREADABLE;
      const refusal = await recordYields(upstream, [answer]);
      return refusal ?? { body: Buffer.from(JSON.stringify(show(answer, idOf(answer)))) };
    },
  };
}

/** Returns the end that an object states: seconds since the epoch at OpenAI, a date elsewhere. */
function endOf({
  expires_at,
  expirationTime = expires_at,
  expireTime: end = expirationTime,
}: JsonObject): number | undefined {
  const time = typeof end === "number" ? end * 1_000 : typeof end === "string" ? Date.parse(end) : Number.NaN;
  return Number.isFinite(time) ? time : undefined;
}
