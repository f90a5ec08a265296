import { isUtf8 } from "node:buffer";
import type { ServerResponse } from "node:http";
import {
  GATEWAY_OPERATIONS,
  isServedOperation,
  type KeptKind,
  type KeptObjects,
} from "../../../domain/access/gateway-operations.ts";
import type { Dialect, UpstreamRecord } from "../../../domain/access/key-record.ts";
import { DAY_MS } from "../../../domain/duration.ts";
import type { AnswerUsage } from "../../../domain/usage/tokens.ts";
import { type Keyring, openSealed, seal } from "../../../store/encryption/keyring.ts";
import { NOT_UTF8, refuseFault } from "../../http/bodies/json-body.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { Problem, problem } from "../../http/problems/problem.ts";
import { ELSEWHERE } from "../../http/problems/problem-of.ts";
import { keptDigest } from "../../ownership/object-owners.ts";
import type { ServerDeps } from "../../product/deps.ts";
import type { GatewayCall } from "../classify.ts";
import type { RequestHead } from "../headers/headers.ts";
import { requireReadable } from "../model/requested-model.ts";
import { forwardedQuery } from "../query.ts";
import { pathPrefixes } from "../request-target.ts";
import type { Resolved } from "../resolve.ts";
import { chargedBatch, withoutResults } from "./batch-answer.ts";
import { type BatchFile, type BatchHolding, batchFile } from "./batch-file.ts";
import { broughtObject, type Expiring, shownObject } from "./brought-object.ts";
import { chargedResults, withOwnResults } from "./charged-results.ts";
import type { FirstReads } from "./first-reads.ts";
import { fileOfBatch, geminiBatch } from "./gemini-batch.ts";
import {
  CHOSEN_NAME,
  fileNamed,
  geminiNameReader,
  NAME_CHOSEN,
  resumedUpload,
  SESSION_ELSEWHERE,
  sessionAt,
  sessionUrl,
  withOwnUrl,
} from "./gemini-files.ts";
import { listFormat } from "./list-formats.ts";
import { OwnedList } from "./owned-list.ts";
import { type KeptReference, type ReadId, ReferenceScan } from "./reference-scan.ts";
import { GIVEN_TWICE, REPEATED_ID, RepeatedIdError } from "./repeated-id.ts";
import { type AnswerReading, type JsonObject, objectOf } from "./whole-answer.ts";

/** Milliseconds beyond an end that an upstream has named: its clock and its deletion may be late. */
const MARGIN_MS = DAY_MS;
/** Milliseconds for which owners are known of objects of which no answer says when they end; for ever where left out. */
const USUAL_MS: Readonly<Partial<Record<KeptKind, number>>> = {
  ...{ upload: 2 * DAY_MS, part: 2 * DAY_MS },
  session: 8 * DAY_MS,
};
/** Kind that an object may be of, too, where its path or a list names it. */
const ALSO: Readonly<Partial<Record<KeptKind, KeptKind>>> = { file: "output" };
/** Milliseconds for which the owner of a response is known: OpenAI keeps a response for 30 days. */
const RESPONSE_MS = 35 * DAY_MS;

/** Objects that the answer to a call may bring, and how their owner is recorded. */
export type Keeping = {
  readonly made: NonNullable<KeptObjects["made"]>;
  /**
   * @throws RepeatedIdError if the upstream had given the id of one of them, which is no item, to another team
   * @throws an error if the database did not say that it is committed
   */
  readonly record: (upstream: UpstreamRecord, made: readonly KeptReference[]) => Promise<void>;
};

/** A call whose objects are its team's. */
export type KeptCall = {
  /** Returns where the call goes of where it may: to the upstream that has its objects, and to no other. */
  readonly reach: (resolved: Resolved) => Resolved | Problem;
  /** Objects that its answer may bring; undefined for none. */
  readonly keeping: Keeping | undefined;
  /** Reading of answers that are read whole; undefined if they pass as they come. */
  readonly reading: AnswerReading | undefined;
  /** Query to ask the upstream with. */
  readonly query: string;
  /** Requests of the batch that the call begins, where the gateway looks for them; undefined for any other call. */
  readonly file: BatchFile | undefined;
  /** Called if the upstream has deleted what the call names; undefined if the call deletes nothing. */
  readonly onDeleted: ((upstream: UpstreamRecord) => void) | undefined;
};

type KeptDeps = Pick<ServerDeps, "owners" | "log" | "keyring" | "clock"> & { readonly firstReads: FirstReads };

type AskedCall = {
  readonly kept: KeptObjects;
  readonly call: Pick<GatewayCall, "names" | "operation" | "model">;
  readonly teamId: string;
  readonly dialect: Dialect;
  readonly head: RequestHead;
  /** Query as it came. */
  readonly query: string;
  /** Body as it came; empty if it was not read. */
  readonly text: Buffer;
  readonly upstreams: readonly UpstreamRecord[];
  /** URL of the gateway, as its callers reach it. */
  readonly gatewayUrl: string;
  readonly response: ServerResponse;
  /** Counts what an answer says of other calls. */
  readonly countLate: (usage: AnswerUsage) => void;
  /** Makes room for so many bytes of an answer more; returns the problem to answer if there is none. */
  readonly reserve: (bytes: number) => Problem | undefined;
  /** Facts that the requests of a batch are held to; undefined for a call that begins none of the kind. */
  readonly batch: BatchHolding | undefined;
};

/**
 * Finds whose the objects are that a call names, in its path and in its body. An unknown one and another team's have the
 * same answer.
 *
 * @returns the call, or the problem to answer
 * @throws Problem 400 or 415 for a body whose references cannot be known without doubt
 */
export async function openKeptCall(
  { owners, log, keyring, clock, firstReads }: KeptDeps,
  { kept, call, teamId, dialect, head, query, text, upstreams, gatewayUrl, ...asked }: AskedCall,
): Promise<KeptCall | Problem> {
  const { named, made, brought, listed, ended } = kept;
  const { response, countLate, batch, reserve } = asked;
  const [object] = call.names;
  const isRead = kept.referring !== undefined || kept.mentioned !== undefined;
  const readId = dialect === "gemini" ? geminiNameReader(upstreams) : undefined;
  const said = isRead ? await readReferences(kept, head, text, readId) : NOTHING_SAID;
  if (named === undefined && said.references.some(({ kind }) => kind === brought?.kind)) return NAME_CHOSEN;
  const resumed = kept.resumes && resumedUpload(query, head.forwarded);
  if (resumed instanceof Problem) return resumed;
  const session = resumed?.session;
  if (resumed !== undefined && session === undefined) {
    const { references } = await readReferences(CHOSEN_NAME, head, text);
    if (references.length > 0) return NAME_CHOSEN;
  }
  const inSession = session === undefined ? [] : [{ kind: "session" as const, id: session }];
  const inPath = named === undefined || object === undefined ? [] : [{ kind: named, id: object }];
  const format = listed && listFormat(dialect, listed);
  const list =
    format &&
    new OwnedList({ findOwn, show, recordYields, ...sealing(keyring, `${call.operation} ${teamId}`) }, format, query);
  const inQuery = listed === undefined ? [] : (list?.named ?? []).map((id) => ({ kind: listed, id }));
  const inObject = kept.within === undefined ? [] : [{ kind: kept.within, id: call.names.at(-1) ?? "" }];
  const byName = [...inPath, ...inQuery].map((one) => ({ ...one, also: ALSO[one.kind] }));
  const fileId = batch && dialect === "gemini" ? await readFileId() : undefined;
  const inFile = fileId === undefined ? [] : [{ kind: "file" as const, id: fileId }];
  const digested = await findNamed([...byName, ...inObject, ...inSession, ...inFile, ...said.references]);
  if (digested instanceof Problem) return digested;
  const [first] = digested;
  const hasResults = kept.results && (first?.kind === "batch" || first?.kind === "output");
  // Most descriptions of Gemini's batches are short, and clients ask for them again and again.
  const isPolled = dialect === "gemini" && first?.kind === "batch";
  const turn = !hasResults || isPolled ? true : await takeTurn(first.digest);
  if (turn instanceof Problem) return turn;
  const charged = hasResults && isPolled ? await isCharged(first.digest) : true;
  if (charged instanceof Problem) return charged;
  const file = batch && (await openFile(batch));
  if (file instanceof Problem) return file;
  const conversation = digested.find(({ kind }) => kind === "conversation");

  function digestOf({ kind, id }: KeptReference): string {
    return keptDigest(dialect, kind, id);
  }
  async function findOrigins(digests: readonly string[]): Promise<ReadonlyMap<string, readonly string[]> | Problem> {
    try {
      return await owners.findOrigins(teamId, digests);
    } catch (error) {
      log.warn({ error }, "could not ask whose an upstream's objects are");
      return UNKNOWN_OWNERS;
    }
  }
  /**
   * Finds where the team has objects.
   *
   * @param references objects, each with another kind that it may be of
   * @returns the objects, of the kind that each is; or the problem to answer if one is not the team's
   */
  async function findNamed(
    references: readonly (KeptReference & { readonly also?: KeptKind | undefined })[],
  ): Promise<readonly OwnedObject[] | Problem> {
    const found: OwnedObject[] = [];
    const others: KeptReference[] = [];
    const digests = references.map(digestOf);
    const origins = await findOrigins(digests);
    if (origins instanceof Problem) return origins;
    for (const [at, { kind, id, also }] of references.entries()) {
      const digest = digests[at] ?? "";
      const places = origins.get(digest) ?? [];
      if (places.length > 0) found.push({ kind, digest, places });
      else if (also === undefined) return MISSING[kind];
      else others.push({ kind: also, id });
    }
    if (others.length === 0) return found;
    const rest = await findNamed(others);
    return rest instanceof Problem ? rest : [...found, ...rest];
  }
  async function findOwn(upstream: UpstreamRecord, ids: readonly string[]): Promise<ReadonlySet<string> | Problem> {
    if (listed === undefined) return new Set();
    const kinds = [listed, ALSO[listed]].filter((kind) => kind !== undefined);
    const digests = kinds.flatMap((kind) => ids.map((id) => digestOf({ kind, id })));
    const found = await findOrigins(digests);
    if (found instanceof Problem) return found;
    const origin = placeOf(upstream);
    return new Set(
      digests.flatMap((digest, at) => (found.get(digest)?.includes(origin) ? (ids[at % ids.length] ?? []) : [])),
    );
  }
  async function readFileId(): Promise<string | undefined> {
    try {
      return await fileOfBatch(text);
    } catch (error) {
      return refuseFault(error);
    }
  }
  async function openFile(holding: BatchHolding): Promise<BatchFile | Problem> {
    try {
      const asks = GATEWAY_OPERATIONS[call.operation].asks ?? "";
      const read = dialect === "gemini" ? fileId : (said.references[0]?.id ?? "");
      const turn = read === undefined ? true : await takeTurn(digestOf({ kind: "file", id: read }), NEVER);
      if (turn instanceof Problem) return turn;
      const onRead = (): void => void (typeof turn === "function" && turn());
      const deps = { ...holding, readId, query: kept.query ?? forwardedQuery(query), hold, onRead };
      if (!isServedOperation(asks)) return await batchFile(text, query, said.references, deps);
      return geminiBatch(fileId, { ...deps, asks, pathModel: call.model });
    } catch (error) {
      return refuseFault(error);
    }
  }
  async function hold(upstream: UpstreamRecord, references: readonly KeptReference[]): Promise<Problem | undefined> {
    const found = await findNamed(references);
    if (found instanceof Problem) return found;
    const origin = placeOf(upstream);
    return found.every(({ places }) => places.includes(origin)) ? undefined : ELSEWHERE_KEPT;
  }
  async function recordYields(upstream: UpstreamRecord, objects: readonly JsonObject[]): Promise<Problem | undefined> {
    const made = Object.entries(kept.yields ?? {}).flatMap(([path, kind]) =>
      objects.flatMap((object) => {
        const value = valueAt(object, path);
        const id = dialect === "gemini" && typeof value === "string" ? fileNamed(value) : value;
        return typeof id === "string" && id !== "" ? [{ kind, id }] : [];
      }),
    );
    return made.length === 0 ? undefined : recordAll(upstream, made, null);
  }
  async function recordBrought(upstream: UpstreamRecord, { kind, id, endsAt }: Expiring): Promise<Problem | undefined> {
    // What is said of a batch is when its requests end, long before its results; and each use of a store prolongs it.
    const end = kind === "batch" || kind === "store" ? undefined : endsAt;
    const lastsMs = end === undefined ? (USUAL_MS[kind] ?? null) : Math.max(0, end - clock.now()) + MARGIN_MS;
    return recordAll(upstream, [{ kind, id }], lastsMs);
  }
  async function recordAll(
    upstream: UpstreamRecord,
    made: readonly KeptReference[],
    lastsMs: number | null,
  ): Promise<Problem | undefined> {
    const origin = placeOf(upstream);
    const rows = made.map((one) => ({ digest: digestOf(one), origin, teamId, parent: null, lastsMs }));
    try {
      if ((await owners.record(teamId, rows)).length === 0) return undefined;
      log.warn({ upstream: upstream.name }, GIVEN_TWICE);
      return REPEATED_ID;
    } catch (error) {
      log.warn({ error }, "could not record whose an upstream's object is");
      return UNRECORDED_OBJECT;
    }
  }
  function show(object: JsonObject, id: string | undefined): JsonObject {
    if (dialect === "anthropic") return withOwnResults(object, id, gatewayUrl);
    return dialect === "gemini" ? withOwnUrl(object, id, gatewayUrl) : object;
  }
  function takeTurn(digest: string, isDone = () => isCharged(digest)): ReturnType<FirstReads["take"]> {
    return firstReads.take(teamId, digest, response, isDone);
  }
  async function isCharged(digest: string): Promise<boolean | Problem> {
    try {
      return await owners.isCharged(teamId, digest);
    } catch (error) {
      log.warn({ error }, "could not ask whether a batch is charged");
      return UNCHARGED;
    }
  }
  async function charge(upstream: UpstreamRecord, onFirst: () => void): Promise<Problem | undefined> {
    try {
      await owners.charge(teamId, { digest: first?.digest ?? "", origin: placeOf(upstream) }, onFirst);
      return undefined;
    } catch (error) {
      log.warn({ error }, "could not note that a batch is charged");
      return UNCHARGED;
    }
  }
  function readingOf(): AnswerReading | undefined {
    const again = kept.query ?? forwardedQuery(query);
    if (typeof turn === "function")
      return chargedResults({ dialect, query: again, charge, count: countLate, onRead: turn });
    if (!charged) {
      const deps = { charge, count: countLate, reserve, recordYields, takeTurn: () => takeTurn(first?.digest ?? "") };
      return chargedBatch({ ...deps, query: again });
    }
    const reading = readingOfObjects();
    // Of Gemini's objects batches alone make others, and have results in them.
    return reading !== undefined && dialect === "gemini" && kept.yields !== undefined
      ? withoutResults(reading, reserve)
      : reading;
  }
  function readingOfObjects(): AnswerReading | undefined {
    const { idOf } = listFormat(dialect, brought?.kind);
    if (brought === undefined) return kept.shown ? shownObject({ idOf, show, recordYields }) : list;
    const reading = broughtObject(brought, { idOf, show, record: recordBrought, recordYields });
    if (!kept.resumes) return reading;
    return {
      async take(upstream, body, headers, status) {
        const { "x-goog-upload-url": next } = headers;
        // The answer to a piece that is not the last has nothing in it.
        if (next === undefined) return body.length === 0 ? { body } : reading.take(upstream, body, headers, status);
        const begun = typeof next === "string" ? sessionAt(upstream, next) : undefined;
        if (begun === undefined) return SESSION_ELSEWHERE;
        const refusal = await recordBrought(upstream, { kind: "session", id: begun, endsAt: undefined });
        return refusal ?? { body, headers: ["X-Goog-Upload-URL", sessionUrl(gatewayUrl, begun)] };
      },
    };
  }
  const hasAll = (upstream: UpstreamRecord): boolean => {
    const origin = placeOf(upstream);
    return digested.every(({ places }) => places.includes(origin));
  };
  return {
    reading: readingOf(),
    file,
    query: list?.query ?? resumed?.query ?? kept.query ?? forwardedQuery(query),
    reach(resolved) {
      const holder =
        digested.length === 0 ? resolved.candidates[0] : resolved.candidates.find(({ upstream }) => hasAll(upstream));
      if (holder === undefined) return ELSEWHERE_KEPT;
      const reached: Resolved = digested.length === 0 ? resolved : { ...resolved, candidates: [holder] };
      return file?.refusalAt?.(reached) ?? reached;
    },
    keeping:
      made === undefined || !said.mayKeep
        ? undefined
        : {
            made,
            async record(upstream, found) {
              const rows = found.map((one) => ({
                ...{ kind: one.kind, digest: digestOf(one), origin: placeOf(upstream), teamId },
                parent: one.kind === "conversation" ? null : (conversation?.digest ?? null),
                lastsMs: one.kind === "conversation" || conversation !== undefined ? null : RESPONSE_MS,
              }));
              const repeated = new Set(await owners.record(teamId, rows));
              // An item whose id is in doubt cannot be named, and its answer goes on.
              if (rows.some((row) => row.kind !== "item" && repeated.has(row))) throw new RepeatedIdError();
            },
          },
    onDeleted:
      ended === undefined
        ? undefined
        : (upstream) => {
            const digest =
              (ended === named ? first?.digest : undefined) ?? digestOf({ kind: ended, id: call.names.at(-1) ?? "" });
            owners.end(teamId, { digest, origin: placeOf(upstream) }).catch((error: unknown) => {
              log.warn({ error }, "could not note that an upstream's object is gone");
            });
          },
  };
}

function sealing(keyring: Keyring, owner: string): Pick<ConstructorParameters<typeof OwnedList>[0], "seal" | "open"> {
  const aad = `position in a list: ${owner}`;
  return {
    seal: (position) => seal(keyring, position, aad).toString("base64url"),
    open: (sealed) => openSealed(keyring, Buffer.from(sealed, "base64url"), aad) ?? undefined,
  };
}

/** Object of the team: its kind, and where the team has it. */
type OwnedObject = { readonly kind: KeptKind; readonly digest: string; readonly places: readonly string[] };

/** Returns where an upstream keeps its objects: its origin, and the path of its API, which may tell customers apart. */
export function placeOf({ baseUrl, dialect }: UpstreamRecord): string {
  const url = new URL(baseUrl);
  return `${url.origin}${pathPrefixes(url, dialect).v1}`;
}

/** Returns a value in an object by the names of the members around it, with dots between. */
function valueAt(object: JsonObject, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => objectOf(value)?.[name], object);
}

/** A file of requests is never charged. */
const NEVER = async (): Promise<boolean> => false;
const NOTHING_SAID = { references: [], mayKeep: true } as const;

async function readReferences(
  kept: KeptObjects,
  head: RequestHead,
  text: Buffer,
  readId?: ReadId,
): Promise<{ readonly references: readonly KeptReference[]; readonly mayKeep: boolean }> {
  requireReadable(head);
  if (!isUtf8(text)) throw NOT_UTF8;
  try {
    const scan = new ReferenceScan(text, kept, readId);
    await inSlices((steps) => scan.run(steps));
    return { references: scan.references, mayKeep: scan.mayKeep };
  } catch (error) {
    return refuseFault(error);
  }
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
  addition: problem("not_found", "File batch not found: none of this id was made with a key of this team."),
  output: problem("not_found", "File not found: no file of this id was uploaded with a key of this team."),
  part: problem("not_found", "Part not found: no part of this id was added to an upload with a key of this team."),
  item: problem(
    "not_found",
    "Item not found: no item of this id is in a stored response of this team. Send the item itself in place of its id.",
  ),
};

const ELSEWHERE_KEPT = problem(
  "not_found",
  "What this id names is kept by an upstream that this call does not go to: the gateway has it no more, or the model's route leads to another one.",
);

const UNKNOWN_OWNERS = problem(
  "unavailable",
  "The database does not say whose the named objects are: try again.",
  ELSEWHERE,
);

/** Answer to a call whose upstream has made something of which no owner could be recorded. */
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

const UNRECORDED_OBJECT = problem(
  "unavailable",
  "The database does not record whose this is, which the upstream has made: make it anew.",
  // Else an SDK makes it three times.
  { ...ELSEWHERE, "x-should-retry": "false" },
);
