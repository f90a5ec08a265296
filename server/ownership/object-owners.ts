import { hash } from "node:crypto";
import type { KeptKind } from "../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../domain/access/key-record.ts";
import type { KeptObject, MadeObject, OwnerQuestion, TeamObject } from "../../store/gateways/kept-objects.ts";
import { DrawQueue } from "../limits/draw-queue.ts";

/** Milliseconds that a call waits for its turn at most, and as long for the database. */
const ANSWER_MS = 2_000;
/** Milliseconds for which an owner that was found is known: where an upstream gives its id twice, it has none any more. */
const KNOWN_MS = 5_000;
/** Owners that are known at a time, at most. */
const MOST_KNOWN = 10_000;
/** Maximum number of ids of one call in one statement. */
const MOST_IDS = 100;

type OwnersDeps = {
  /** Records whose the objects are; finds those that are no team's, as another team has recorded them too. */
  readonly record: (made: readonly MadeObject[]) => Promise<readonly KeptObject[]>;
  /** Finds the origins at which teams have objects, for each question. */
  readonly find: (questions: readonly OwnerQuestion[]) => Promise<readonly (readonly string[])[]>;
  /** Ends what an upstream has deleted. */
  readonly end: (teamId: string, object: KeptObject) => Promise<void>;
  /** Notes that what objects have used is charged; finds for each false if it was before. */
  readonly charge: (objects: readonly TeamObject[]) => Promise<readonly boolean[]>;
  /** Finds whether what objects have used is charged, wherever the teams have them, for each question. */
  readonly findCharged: (questions: readonly OwnerQuestion[]) => Promise<readonly boolean[]>;
  /** Milliseconds on a clock that never jumps. */
  readonly monotonic: () => number;
};

/** Object that is charged, and what is to be done if it was not before. */
type ChargedObject = { readonly object: TeamObject; readonly onFirst: () => void };

type Known = { readonly teamId: string; readonly origins: readonly string[]; readonly until: number };

/**
 * Digest of an object by its format, kind and id. The ids of providers have 128 random bits or more, so that a digest
 * without a secret cannot be turned back; it opens nothing either, and stays the same when keys for encryption change.
 *
 * @returns 32 latin1 characters
 */
export function keptDigest(dialect: Dialect, kind: KeptKind, id: string): string {
  return hash("sha256", `keyplane kept object\0${dialect}\0${kind}\0${id}`, "buffer").toString("latin1");
}

/**
 * Owners of what upstreams keep. Teams ask in turn, and several calls by one statement: a team's many calls take no
 * more of the database than those of limits do. What was not found is asked again with each call.
 */
export class ObjectOwners {
  readonly #deps: OwnersDeps;
  readonly #recording: DrawQueue<readonly MadeObject[], readonly MadeObject[]>;
  readonly #finding: DrawQueue<readonly OwnerQuestion[], readonly (readonly string[])[]>;
  readonly #charging: DrawQueue<ChargedObject, boolean>;
  readonly #findingCharged: DrawQueue<OwnerQuestion, boolean>;
  /** Owners that were found, by digest, the oldest first. */
  readonly #known = new Map<string, Known>();

  constructor(deps: OwnersDeps) {
    this.#deps = deps;
    this.#charging = new DrawQueue({
      answerMs: ANSWER_MS,
      // Here, since a statement that is late is no answer to a call any more.
      ask: async (calls: readonly ChargedObject[]) => {
        const answers = await deps.charge(calls.map(({ object }) => object));
        for (const [place, { onFirst }] of calls.entries()) if (answers[place] === true) onFirst();
        return answers;
      },
    });
    this.#findingCharged = new DrawQueue({ answerMs: ANSWER_MS, ask: deps.findCharged });
    this.#recording = new DrawQueue({
      answerMs: ANSWER_MS,
      ask: async (calls) => {
        const repeated = new Set((await deps.record(calls.flat())).map(placeOf));
        return calls.map((made): readonly MadeObject[] => made.filter((one) => repeated.has(placeOf(one))));
      },
    });
    this.#finding = new DrawQueue<readonly OwnerQuestion[], readonly (readonly string[])[]>({
      answerMs: ANSWER_MS,
      ask: async (calls) => {
        const answers = (await deps.find(calls.flat())).values();
        return calls.map((questions) => questions.map(() => answers.next().value ?? []));
      },
    });
  }

  /**
   * Records what a call has made, before its ids go to the client.
   *
   * @returns those that are no team's, as their upstream has given the id to another team too
   * @throws an error if the database did not say that it is committed
   */
  async record(teamId: string, made: readonly MadeObject[]): Promise<readonly MadeObject[]> {
    const repeated: MadeObject[] = [];
    for (let from = 0; from < made.length; from += MOST_IDS) {
      const some = made.slice(from, from + MOST_IDS);
      repeated.push(...(await this.#recording.draw(teamId, () => some)));
    }
    for (const { digest } of repeated) this.#known.delete(digest);
    return repeated;
  }

  /**
   * Finds the origins at which a team has objects.
   *
   * @returns the origins by digest; none for another team's object and for an unknown one
   * @throws an error if the database did not answer
   */
  async findOrigins(teamId: string, digests: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const now = this.#deps.monotonic();
    const found = new Map<string, readonly string[]>();
    for (const digest of digests) {
      const known = this.#known.get(digest);
      if (known !== undefined && known.teamId === teamId && known.until > now) found.set(digest, known.origins);
    }
    const unknown = [...new Set(digests)].filter((digest) => !found.has(digest));
    for (let from = 0; from < unknown.length; from += MOST_IDS) {
      const asked = unknown.slice(from, from + MOST_IDS);
      const answers = await this.#finding.draw(teamId, () => asked.map((digest) => ({ teamId, digest })));
      for (const [place, digest] of asked.entries()) {
        const origins = answers[place] ?? [];
        found.set(digest, origins);
        if (origins.length > 0) this.#learn(digest, { teamId, origins, until: now + KNOWN_MS });
      }
    }
    return found;
  }

  /** Ends an object that its upstream has deleted. */
  async end(teamId: string, object: KeptObject): Promise<void> {
    this.#known.delete(object.digest);
    await this.#deps.end(teamId, object);
  }

  /**
   * Notes that what a team's object has used is charged.
   *
   * @param onFirst called if it was not before, once that is committed, also after this has thrown
   * @throws an error if the database did not say in time that it is committed
   */
  async charge(teamId: string, object: KeptObject, onFirst: () => void): Promise<void> {
    await this.#charging.draw(teamId, () => ({ object: { ...object, teamId }, onFirst }));
  }

  /**
   * Finds whether what a team's object has used is charged.
   *
   * @throws an error if the database did not answer
   */
  isCharged(teamId: string, digest: string): Promise<boolean> {
    return this.#findingCharged.draw(teamId, () => ({ teamId, digest }));
  }

  #learn(digest: string, known: Known): void {
    this.#known.delete(digest);
    this.#known.set(digest, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

function placeOf({ digest, origin }: KeptObject): string {
  return `${digest}${origin}`;
}
