import type { KeptKind, KeptObjects } from "../../../domain/access/gateway-operations.ts";
import type { Dialect, UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { AnswerUsage } from "../../../domain/usage/tokens.ts";
import type { Problem } from "../../http/problems/problem.ts";
import { chargedBatch, withoutResults } from "./batch-answer.ts";
import { broughtObject, shownObject } from "./brought-object.ts";
import { chargedResults, withOwnResults } from "./charged-results.ts";
import type { FirstReads } from "./first-reads.ts";
import { fileNamed, SESSION_ELSEWHERE, sessionAt, sessionUrl, withOwnUrl } from "./gemini-files.ts";
import { listFormat } from "./list-formats.ts";
import type { OwnedList } from "./owned-list.ts";
import type { TeamObjects } from "./team-objects.ts";
import { type AnswerReading, type JsonObject, objectOf } from "./whole-answer.ts";

/** Shows and records the objects in answers. */
export type ObjectReading = {
  /** Returns an object as clients are shown it: the same one if nothing is to be changed. */
  readonly show: (object: JsonObject, id: string | undefined) => JsonObject;
  /** Records the owners of what objects say that they have made; returns the problem to answer if that fails. */
  readonly recordYields: (upstream: UpstreamRecord, objects: readonly JsonObject[]) => Promise<Problem | undefined>;
};

/** Reads the objects of one format, as a gateway at this URL shows them. */
export function objectReading(
  { yields = {} }: KeptObjects,
  dialect: Dialect,
  gatewayUrl: string,
  objects: TeamObjects,
): ObjectReading {
  function idAt(object: JsonObject, path: string): string | undefined {
    const value = valueAt(object, path);
    const id = dialect === "gemini" && typeof value === "string" ? fileNamed(value) : value;
    return typeof id === "string" && id !== "" ? id : undefined;
  }
  return {
    show(object, id) {
      if (dialect === "anthropic") return withOwnResults(object, id, gatewayUrl);
      return dialect === "gemini" ? withOwnUrl(object, id, gatewayUrl) : object;
    },
    async recordYields(upstream, all) {
      const made = Object.entries(yields).flatMap(([path, kind]: [string, KeptKind]) =>
        all.flatMap((object) => {
          const id = idAt(object, path);
          return id === undefined ? [] : [{ kind, id }];
        }),
      );
      return made.length === 0 ? undefined : objects.record(upstream, made, null);
    },
  };
}

type ReadingDeps = ObjectReading & {
  readonly kept: KeptObjects;
  readonly dialect: Dialect;
  readonly gatewayUrl: string;
  readonly objects: TeamObjects;
  /** List that the call asks for; undefined for none. */
  readonly list: OwnedList | undefined;
  /** Query to ask the upstream with again. */
  readonly query: string;
  /** Batch whose results the answer may have; undefined for none. */
  readonly batch: BatchTurn | undefined;
  /** Counts what an answer says of other calls. */
  readonly count: (usage: AnswerUsage) => void;
  /** Makes room for so many bytes of an answer more; returns the problem to answer if there is none. */
  readonly reserve: (bytes: number) => Problem | undefined;
};

/** Batch whose results are asked for. */
export type BatchTurn = {
  readonly digest: string;
  /** Ends the turn of reading a file of results that is not charged yet; true if there is none. */
  readonly turn: (() => void) | true;
  /** False if the answer is the batch itself, whose results are not charged yet. */
  readonly isCharged: boolean;
  /** Waits for the turn to read the results in the batch itself. */
  readonly takeTurn: () => ReturnType<FirstReads["take"]>;
};

/** Returns how a call's answer is read whole; undefined if it passes as it comes. */
export function answerReading(deps: ReadingDeps): AnswerReading | undefined {
  const { kept, dialect, objects, batch, query, count, reserve, recordYields } = deps;
  const charge = (upstream: UpstreamRecord, onFirst: () => void): Promise<Problem | undefined> =>
    objects.charge(upstream, batch?.digest ?? "", onFirst);
  if (typeof batch?.turn === "function") return chargedResults({ dialect, query, charge, count, onRead: batch.turn });
  if (batch?.isCharged === false)
    return chargedBatch({ charge, count, reserve, recordYields, takeTurn: batch.takeTurn, query });
  const reading = objectsOfAnswer(deps);
  // Of Gemini's objects batches alone make others, and have results in them.
  return reading !== undefined && dialect === "gemini" && kept.yields !== undefined
    ? withoutResults(reading, reserve)
    : reading;
}

function objectsOfAnswer(deps: ReadingDeps): AnswerReading | undefined {
  const { kept, dialect, gatewayUrl, objects, list, show, recordYields } = deps;
  const { brought } = kept;
  const { idOf } = listFormat(dialect, brought?.kind);
  if (brought === undefined) return kept.shown ? shownObject({ idOf, show, recordYields }) : list;
  const record: TeamObjects["recordBrought"] = (upstream, made) => objects.recordBrought(upstream, made);
  const reading = broughtObject(brought, { idOf, show, record, recordYields });
  if (!kept.resumes) return reading;
  return {
    async take(upstream, body, headers, status) {
      const { "x-goog-upload-url": next } = headers;
      // The answer to a piece that is not the last has nothing in it.
      if (next === undefined) return body.length === 0 ? { body } : reading.take(upstream, body, headers, status);
      const begun = typeof next === "string" ? sessionAt(upstream, next) : undefined;
      if (begun === undefined) return SESSION_ELSEWHERE;
      const refusal = await record(upstream, { kind: "session", id: begun, endsAt: undefined });
      return refusal ?? { body, headers: ["X-Goog-Upload-URL", sessionUrl(gatewayUrl, begun)] };
    },
  };
}

/** Returns a value in an object by the names of the members around it, with dots between. */
function valueAt(object: JsonObject, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => objectOf(value)?.[name], object);
}
