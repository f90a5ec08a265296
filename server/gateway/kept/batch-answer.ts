import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { AnswerUsage } from "../../../domain/usage/tokens.ts";
import { BodyPieces } from "../../http/bodies/body-pieces.ts";
import { reusedRoom } from "../../http/bodies/reused-room.ts";
import type { Problem } from "../../http/problems/problem.ts";
import { needleOf } from "../headers/credential-mask.ts";
import { withoutCredential } from "../tokens/answer-tap.ts";
import { InlinedResults } from "../tokens/inlined-results.ts";
import { type AnswerReading, answerObject, type JsonObject, MOST_READ, UNREADABLE } from "./whole-answer.ts";

/** Makes room for so many bytes more; returns the problem to answer if there is none. */
type Reserve = (bytes: number) => Problem | undefined;

/** Descriptions of Gemini's batches without the results in them, which may be tens of megabytes. */
class Rest {
  readonly #pieces = new BodyPieces();
  readonly #makeRoom: ReturnType<typeof reusedRoom>;
  readonly results: InlinedResults;
  #refusal: Problem | undefined;

  /** @param counts true if the results are read for what they have used */
  constructor(makeRoom: ReturnType<typeof reusedRoom>, counts: boolean) {
    this.#makeRoom = makeRoom;
    this.results = new InlinedResults((bytes) => this.#keep(bytes), counts);
  }

  /** Takes the next piece; returns the problem to answer, if there is one. */
  push(piece: Buffer): Problem | undefined {
    this.results.push(piece);
    return this.results.isUnreadable ? UNREADABLE : this.#refusal;
  }

  whole(): Buffer {
    return this.#pieces.whole();
  }

  #keep(bytes: Buffer): void {
    if (this.#refusal !== undefined || bytes.length === 0) return;
    const size = this.#pieces.size + bytes.length;
    this.#refusal = size > MOST_READ ? UNREADABLE : this.#makeRoom(size);
    // A copy, else a few bytes would hold all of the piece.
    if (this.#refusal === undefined) this.#pieces.add(Buffer.from(bytes));
  }
}

/** Has a reading take descriptions of batches without the results in them: what was used is counted elsewhere. */
export function withoutResults(reading: AnswerReading, reserve: Reserve): AnswerReading {
  const makeRoom = reusedRoom(reserve);
  let rest = new Rest(makeRoom, false);
  return {
    push(piece) {
      const refusal = rest.push(piece);
      return refusal && Promise.resolve(refusal);
    },
    take(upstream, _body, headers, status) {
      const body = rest.whole();
      rest = new Rest(makeRoom, false);
      return reading.take(upstream, body, headers, status);
    },
  };
}

type ChargedBatchDeps = {
  /** Query to ask with once more. */
  readonly query: string;
  readonly reserve: Reserve;
  /** Waits for the turn to read a long description; returns the function that ends it, or the problem to answer. */
  readonly takeTurn: () => Promise<(() => void) | true | Problem>;
  /** Records the owners of what the batch says that it has made; returns the problem to answer if that fails. */
  readonly recordYields: (upstream: UpstreamRecord, objects: readonly JsonObject[]) => Promise<Problem | undefined>;
  /**
   * Notes that the results are charged, and calls `onFirst` if they were not before; returns the problem to answer if
   * that is not known in time.
   */
  readonly charge: (upstream: UpstreamRecord, onFirst: () => void) => Promise<Problem | undefined>;
  /** Counts what was used. */
  readonly count: (usage: AnswerUsage) => void;
};

/**
 * Reads the description of a batch, and has the results in it charged before any of them leaves. What is answered are
 * the very bytes that were read, as a second answer may have more results; or, of a description that is too long to be
 * held, a second answer of a batch that has ended, which stays as it is. A batch that goes on is shown without results.
 */
export function chargedBatch(deps: ChargedBatchDeps): AnswerReading {
  const { query, reserve, takeTurn, recordYields, charge, count } = deps;
  const rest = new Rest(reusedRoom(reserve), true);
  let held: BodyPieces | undefined = new BodyPieces();
  let endTurn: () => void = () => {};

  async function letGo(): Promise<Problem | undefined> {
    held = undefined;
    const turn = await takeTurn();
    if (turn === true) return undefined;
    if (typeof turn !== "function") return turn;
    endTurn = turn;
    return undefined;
  }
  return {
    push(piece) {
      const refusal = rest.push(piece) ?? (held && reserve(piece.length));
      if (refusal !== undefined) return Promise.resolve(refusal);
      if (held === undefined) return undefined;
      if (held.size + piece.length > MOST_READ) return letGo();
      held.add(piece);
      return undefined;
    },
    async take(upstream, _body, _headers, status) {
      const body = rest.whole();
      const batch = await answerObject(body);
      const { hasAny, used } = rest.results;
      if (batch === undefined || status !== 200) return UNREADABLE;
      const unrecorded = await recordYields(upstream, [batch]);
      if (unrecorded !== undefined) return unrecorded;
      if (batch.done !== true || !hasAny) return { body };
      const model = modelOf(batch);
      const uncharged = await charge(upstream, () => {
        const needle = needleOf(upstream.credential || "");
        for (const one of used) count(withoutCredential({ ...one, model: one.model ?? model }, needle));
      });
      endTurn();
      return uncharged ?? (held === undefined ? { query, passes: true } : { body: held.whole() });
    },
  };
}

/** Returns the model of a batch, which what was embedded does not name. */
function modelOf({ metadata }: JsonObject): string | undefined {
  const { model } = (metadata ?? {}) as JsonObject;
  return typeof model === "string" ? model.replace(/^models\//, "") : undefined;
}
