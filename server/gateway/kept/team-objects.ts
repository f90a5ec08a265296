import type { KeptKind } from "../../../domain/access/gateway-operations.ts";
import type { Dialect, UpstreamRecord } from "../../../domain/access/key-record.ts";
import { DAY_MS } from "../../../domain/duration.ts";
import { Problem, problem } from "../../http/problems/problem.ts";
import { ELSEWHERE } from "../../http/problems/problem-of.ts";
import { keptDigest } from "../../ownership/object-owners.ts";
import type { ServerDeps } from "../../product/deps.ts";
import { pathPrefixes } from "../request-target.ts";
import type { Expiring } from "./brought-object.ts";
import type { KeptReference } from "./reference-scan.ts";
import { GIVEN_TWICE, REPEATED_ID, RepeatedIdError } from "./repeated-id.ts";

/** Milliseconds beyond an end that an upstream has named: its clock and its deletion may be late. */
const MARGIN_MS = DAY_MS;
/** Milliseconds for which owners are known of objects of which no answer says when they end; for ever where left out. */
const USUAL_MS: Readonly<Partial<Record<KeptKind, number>>> = {
  ...{ upload: 2 * DAY_MS, part: 2 * DAY_MS },
  session: 8 * DAY_MS,
};
/** Milliseconds for which the owner of a response is known: OpenAI keeps a response for 30 days. */
const RESPONSE_MS = 35 * DAY_MS;
/** Kind that an object may be of, too, where its path or a list names it. */
const ALSO: Readonly<Partial<Record<KeptKind, KeptKind>>> = { file: "output" };

/** Object of the team: its kind, and where the team has it. */
export type OwnedObject = { readonly kind: KeptKind; readonly digest: string; readonly places: readonly string[] };

/** Object that a call names; `isListed` is true if its path or a list names it, where it may be of another kind, too. */
export type NamedObject = KeptReference & { readonly isListed?: boolean };

/** Objects of one team at the upstreams of one format. An unknown object and another team's have the same answer. */
export class TeamObjects {
  readonly #deps: Pick<ServerDeps, "owners" | "log" | "clock">;
  readonly #teamId: string;
  readonly #dialect: Dialect;

  constructor(deps: Pick<ServerDeps, "owners" | "log" | "clock">, teamId: string, dialect: Dialect) {
    this.#deps = deps;
    this.#teamId = teamId;
    this.#dialect = dialect;
  }

  digestOf({ kind, id }: KeptReference): string {
    return keptDigest(this.#dialect, kind, id);
  }

  /**
   * Finds where the team has objects.
   *
   * @returns the objects, of the kind that each is; or the problem to answer if one is not the team's
   */
  async find(named: readonly NamedObject[]): Promise<readonly OwnedObject[] | Problem> {
    const found: OwnedObject[] = [];
    const others: KeptReference[] = [];
    const digests = named.map((one) => this.digestOf(one));
    const origins = await this.#findOrigins(digests);
    if (origins instanceof Problem) return origins;
    for (const [at, { kind, id, isListed }] of named.entries()) {
      const digest = digests[at] ?? "";
      const places = origins.get(digest) ?? [];
      const also = isListed ? ALSO[kind] : undefined;
      if (places.length > 0) found.push({ kind, digest, places });
      else if (also === undefined) return MISSING[kind];
      else others.push({ kind: also, id });
    }
    if (others.length === 0) return found;
    const rest = await this.find(others);
    return rest instanceof Problem ? rest : [...found, ...rest];
  }

  /** Returns those of the ids in a list of one kind that are the team's at an upstream, or the problem to answer. */
  async findOwn(
    kind: KeptKind,
    upstream: UpstreamRecord,
    ids: readonly string[],
  ): Promise<ReadonlySet<string> | Problem> {
    const kinds = [kind, ALSO[kind]].filter((one) => one !== undefined);
    const digests = kinds.flatMap((one) => ids.map((id) => this.digestOf({ kind: one, id })));
    const found = await this.#findOrigins(digests);
    if (found instanceof Problem) return found;
    const origin = placeOf(upstream);
    return new Set(
      digests.flatMap((digest, at) => (found.get(digest)?.includes(origin) ? (ids[at % ids.length] ?? []) : [])),
    );
  }

  /** Returns the problem to answer if one of the objects is not the team's, or is not at this upstream. */
  async hold(upstream: UpstreamRecord, references: readonly KeptReference[]): Promise<Problem | undefined> {
    const found = await this.find(references);
    if (found instanceof Problem) return found;
    return isWhereAll(found, upstream) ? undefined : ELSEWHERE_KEPT;
  }

  /**
   * Records what an answer brings.
   *
   * @returns the problem to answer if it could not be recorded
   */
  recordBrought(upstream: UpstreamRecord, { kind, id, endsAt }: Expiring): Promise<Problem | undefined> {
    // What is said of a batch is when its requests end, long before its results; and each use of a store prolongs it.
    const end = kind === "batch" || kind === "store" ? undefined : endsAt;
    const lastsMs =
      end === undefined ? (USUAL_MS[kind] ?? null) : Math.max(0, end - this.#deps.clock.now()) + MARGIN_MS;
    return this.record(upstream, [{ kind, id }], lastsMs);
  }

  /**
   * Records that objects at an upstream are the team's.
   *
   * @param lastsMs milliseconds for which their owner is known; null for ever
   * @returns the problem to answer if they could not be recorded
   */
  async record(
    upstream: UpstreamRecord,
    made: readonly KeptReference[],
    lastsMs: number | null,
  ): Promise<Problem | undefined> {
    const origin = placeOf(upstream);
    const rows = made.map((one) => ({
      ...{ digest: this.digestOf(one), origin, teamId: this.#teamId },
      parent: null,
      lastsMs,
    }));
    try {
      if ((await this.#deps.owners.record(this.#teamId, rows)).length === 0) return undefined;
      this.#deps.log.warn({ upstream: upstream.name }, GIVEN_TWICE);
      return REPEATED_ID;
    } catch (error) {
      this.#deps.log.warn({ error }, "could not record whose an upstream's object is");
      return UNRECORDED_OBJECT;
    }
  }

  /**
   * Records responses, conversations and their items.
   *
   * @param conversation digest of the conversation that they are in; undefined for none
   * @throws RepeatedIdError if the upstream had given the id of one of them, which is no item, to another team
   * @throws an error if the database did not say that it is committed
   */
  async recordStored(
    upstream: UpstreamRecord,
    found: readonly KeptReference[],
    conversation: string | undefined,
  ): Promise<void> {
    const rows = found.map((one) => ({
      ...{ kind: one.kind, digest: this.digestOf(one), origin: placeOf(upstream), teamId: this.#teamId },
      parent: one.kind === "conversation" ? null : (conversation ?? null),
      lastsMs: one.kind === "conversation" || conversation !== undefined ? null : RESPONSE_MS,
    }));
    const repeated = new Set(await this.#deps.owners.record(this.#teamId, rows));
    // An item whose id is in doubt cannot be named, and its answer goes on.
    if (rows.some((row) => row.kind !== "item" && repeated.has(row))) throw new RepeatedIdError();
  }

  /** Notes that an upstream has deleted an object. */
  end(upstream: UpstreamRecord, digest: string): void {
    this.#deps.owners.end(this.#teamId, { digest, origin: placeOf(upstream) }).catch((error: unknown) => {
      this.#deps.log.warn({ error }, "could not note that an upstream's object is gone");
    });
  }

  /** Returns whether what a batch has used is charged, or the problem to answer. */
  async isCharged(digest: string): Promise<boolean | Problem> {
    try {
      return await this.#deps.owners.isCharged(this.#teamId, digest);
    } catch (error) {
      this.#deps.log.warn({ error }, "could not ask whether a batch is charged");
      return UNCHARGED;
    }
  }

  /**
   * Notes that what a batch has used is charged.
   *
   * @param onFirst called if it was not before
   * @returns the problem to answer if that could not be noted
   */
  async charge(upstream: UpstreamRecord, digest: string, onFirst: () => void): Promise<Problem | undefined> {
    try {
      await this.#deps.owners.charge(this.#teamId, { digest, origin: placeOf(upstream) }, onFirst);
      return undefined;
    } catch (error) {
      this.#deps.log.warn({ error }, "could not note that a batch is charged");
      return UNCHARGED;
    }
  }

  async #findOrigins(digests: readonly string[]): Promise<ReadonlyMap<string, readonly string[]> | Problem> {
    try {
      return await this.#deps.owners.findOrigins(this.#teamId, digests);
    } catch (error) {
      this.#deps.log.warn({ error }, "could not ask whose an upstream's objects are");
      return UNKNOWN_OWNERS;
    }
  }
}

/** True if all objects are at this upstream. */
export function isWhereAll(objects: readonly OwnedObject[], upstream: UpstreamRecord): boolean {
  const origin = placeOf(upstream);
  return objects.every(({ places }) => places.includes(origin));
}

/** Returns where an upstream keeps its objects: its origin, and the path of its API, which may tell customers apart. */
export function placeOf({ baseUrl, dialect }: UpstreamRecord): string {
  const url = new URL(baseUrl);
  const { v1, "upload/v1beta": uploads } = pathPrefixes(url, dialect);
  // The versions of Gemini's API keep the same objects: a base URL may end in either, or in none.
  const path = dialect === "gemini" ? uploads.replace(/upload\/v1beta$/, "v1") : v1;
  return `${url.origin}${path}`;
}

/** Answers to an id that is not the team's, by kind: the same for an unknown one and another team's. */
const MISSING: Readonly<Record<KeptKind, Problem>> = {
  response: problem("not_found", "Response not found: no response of this id was made with a key of this team."),
  conversation: problem("not_found", "Conversation not found: none of this id was made with a key of this team."),
  file: problem("not_found", "File not found: no file of this id was uploaded with a key of this team."),
  upload: problem("not_found", "Upload not found: no upload of this id was begun with a key of this team."),
  session: problem("not_found", "Upload not found: no upload of this id was begun with a key of this team."),
  batch: problem("not_found", "Batch not found: no batch of this id was made with a key of this team."),
  cache: problem("not_found", "Cached content not found: none of this name was made with a key of this team."),
  store: problem("not_found", "Vector store not found: none of this id was made with a key of this team."),
  "search store": problem(
    "not_found",
    "File search store not found: none can be made here. Send the files themselves.",
  ),
  addition: problem("not_found", "File batch not found: none of this id was made with a key of this team."),
  message: problem(
    "not_found",
    "Message not found: this gateway goes on from no message thread. Send the whole conversation without `thread`.",
    undefined,
    { error_code: "thread_not_found" },
  ),
  output: problem("not_found", "File not found: no file of this id was uploaded with a key of this team."),
  profile: problem("not_found", "User profile not found: the gateway's credential alone decides who pays."),
  part: problem("not_found", "Part not found: no part of this id was added to an upload with a key of this team."),
  item: problem(
    "not_found",
    "Item not found: no item of this id is in a stored response of this team. Send the item itself in place of its id.",
  ),
};

/** Answer to a call that no upstream of its model may serve, as another one has what it names. */
export const ELSEWHERE_KEPT = problem(
  "not_found",
  "What this id names is kept by an upstream that this call does not go to: the gateway has it no more, or the model's route leads to another one.",
);

const UNKNOWN_OWNERS = problem(
  "unavailable",
  "The database does not say whose the named objects are: try again.",
  ELSEWHERE,
);

/** Answer to a call whose upstream has stored its answer, of which no owner could be recorded. */
export const UNRECORDED: Problem = problem(
  "unavailable",
  "The database does not record whose the answer is, which the upstream stores: try again, or send `store: false`.",
  ELSEWHERE,
);

const UNCHARGED = problem(
  "unavailable",
  "The database does not say whether what the batch has used is charged, without which no result leaves: try again.",
  ELSEWHERE,
);

/** Answer to a call whose upstream has made an object of which no owner could be recorded. */
export const UNRECORDED_OBJECT: Problem = problem(
  "unavailable",
  "The database does not record whose this is, which the upstream has made: make it anew.",
  // Else an SDK makes it three times.
  { ...ELSEWHERE, "x-should-retry": "false" },
);
