import { isUtf8 } from "node:buffer";
import type { ServerResponse } from "node:http";
import { GATEWAY_OPERATIONS, isServedOperation, type KeptObjects } from "../../../domain/access/gateway-operations.ts";
import type { Dialect, UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { AnswerUsage } from "../../../domain/usage/tokens.ts";
import { type Keyring, openSealed, seal } from "../../../store/encryption/keyring.ts";
import { NOT_UTF8, refuseFault } from "../../http/bodies/json-body.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { Problem } from "../../http/problems/problem.ts";
import type { ServerDeps } from "../../product/deps.ts";
import type { GatewayCall } from "../classify.ts";
import type { RequestHead } from "../headers/headers.ts";
import { requireReadable } from "../model/requested-model.ts";
import { forwardedQuery } from "../query.ts";
import type { Resolved, UpstreamCandidate } from "../resolve.ts";
import { answerReading, type BatchTurn, objectReading } from "./answer-reading.ts";
import { type BatchFile, type BatchHolding, batchFile } from "./batch-file.ts";
import type { FirstReads } from "./first-reads.ts";
import { fileOfBatch, geminiBatch } from "./gemini-batch.ts";
import { CHOSEN_NAME, geminiNameReader, NAME_CHOSEN, resumedUpload } from "./gemini-files.ts";
import { listFormat } from "./list-formats.ts";
import { requireMembers } from "./member-values.ts";
import { OwnedList } from "./owned-list.ts";
import { type KeptReference, type ReadId, ReferenceScan } from "./reference-scan.ts";
import { ELSEWHERE_KEPT, isWhereAll, type NamedObject, type OwnedObject, TeamObjects } from "./team-objects.ts";
import type { AnswerReading } from "./whole-answer.ts";

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
  /** True if it is known which texts in the body name an object of a candidate's: of Gemini's, its host tells. */
  readonly isReadFor: (candidate: UpstreamCandidate) => boolean;
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
export async function openKeptCall(deps: KeptDeps, asked: AskedCall): Promise<KeptCall | Problem> {
  const { kept, call, teamId, dialect, head, query, text, upstreams, gatewayUrl, batch } = asked;
  const { named, made, ended, listed } = kept;
  const readId = dialect === "gemini" ? geminiNameReader(upstreams) : undefined;
  const isRead = kept.referring !== undefined || kept.mentioned !== undefined;
  const said = isRead ? await readReferences(kept, head, text, readId) : NOTHING_SAID;
  if (named === undefined && said.references.some(({ kind }) => kind === kept.brought?.kind)) return NAME_CHOSEN;
  const resumed = kept.resumes && resumedUpload(query, head.forwarded);
  if (resumed instanceof Problem) return resumed;
  if (resumed !== undefined && resumed.session === undefined) {
    const { references } = await readReferences(CHOSEN_NAME, head, text);
    if (references.length > 0) return NAME_CHOSEN;
  }
  const objects = new TeamObjects(deps, teamId, dialect);
  const { show, recordYields } = objectReading(kept, dialect, gatewayUrl, objects);
  const list =
    listed &&
    new OwnedList(
      {
        findOwn: (upstream, ids) => objects.findOwn(listed, upstream, ids),
        ...{ show, recordYields, reserve: asked.reserve },
        ...sealing(deps.keyring, `${call.operation} ${teamId}`),
      },
      listFormat(dialect, listed),
      query,
    );
  const fileId = batch && dialect === "gemini" ? await readFileId(text) : undefined;
  const inFile: readonly NamedObject[] = fileId === undefined ? [] : [{ kind: "file", id: fileId }];
  const found = await objects.find([
    ...namedByPlace(kept, call.names, list?.named ?? [], resumed?.session),
    ...inFile,
    ...said.references,
  ]);
  if (found instanceof Problem) return found;
  if (kept.members !== undefined) await requireMembers(text, kept.members);
  const results = await openResults(deps, asked, objects, found[0]);
  if (results instanceof Problem) return results;
  const file = batch && (await openFile(deps, asked, batch, { objects, references: said.references, readId, fileId }));
  if (file instanceof Problem) return file;
  const conversation = found.find(({ kind }) => kind === "conversation")?.digest;
  const again = kept.query ?? forwardedQuery(query);
  return {
    reading: answerReading({
      ...{ kept, dialect, gatewayUrl, objects, list, show, recordYields },
      ...{ query: again, batch: results, count: asked.countLate, reserve: asked.reserve },
    }),
    file,
    query: list?.query ?? resumed?.query ?? again,
    isReadFor: ({ upstream }) =>
      readId === undefined || !isRead || upstreams.some(({ baseUrl }) => baseUrl === upstream.baseUrl),
    reach(resolved) {
      if (found.length === 0) return file?.refusalAt?.(resolved) ?? resolved;
      const holder = resolved.candidates.find(({ upstream }) => isWhereAll(found, upstream));
      if (holder === undefined) return ELSEWHERE_KEPT;
      const reached: Resolved = { ...resolved, candidates: [holder] };
      return file?.refusalAt?.(reached) ?? reached;
    },
    keeping:
      made === undefined || !said.mayKeep
        ? undefined
        : { made, record: (upstream, stored) => objects.recordStored(upstream, stored, conversation) },
    onDeleted:
      ended &&
      ((upstream) => {
        const inPath = ended === named ? found[0]?.digest : undefined;
        objects.end(upstream, inPath ?? objects.digestOf({ kind: ended, id: call.names.at(-1) ?? "" }));
      }),
  };
}

/**
 * Returns the objects that a call names outside of its body: first the one of its path, of whose kind the call is.
 *
 * @param behind objects behind which a list begins
 * @param session upload that a call goes on with; undefined for none
 */
function namedByPlace(
  { named, listed, within }: KeptObjects,
  names: GatewayCall["names"],
  behind: readonly string[],
  session: string | undefined,
): readonly NamedObject[] {
  const [object] = names;
  return [
    ...(named === undefined || object === undefined ? [] : [{ kind: named, id: object, isListed: true }]),
    ...(listed === undefined ? [] : behind.map((id) => ({ kind: listed, id, isListed: true }))),
    ...(within === undefined ? [] : [{ kind: within, id: names.at(-1) ?? "" }]),
    ...(session === undefined ? [] : [{ kind: "session" as const, id: session }]),
  ];
}

/**
 * Waits until the results of a batch may be read, if the call asks for some.
 *
 * @param object object in the call's path
 * @returns the batch, undefined for another call, or the problem to answer
 */
async function openResults(
  { firstReads }: KeptDeps,
  { kept, teamId, dialect, response }: AskedCall,
  objects: TeamObjects,
  object: OwnedObject | undefined,
): Promise<BatchTurn | undefined | Problem> {
  if (!kept.results || (object?.kind !== "batch" && object?.kind !== "output")) return undefined;
  const { digest } = object;
  const takeTurn = () => firstReads.take(teamId, digest, response, () => objects.isCharged(digest));
  // Most descriptions of Gemini's batches are short, and clients ask for them again and again.
  const isPolled = dialect === "gemini" && object.kind === "batch";
  const turn = isPolled ? true : await takeTurn();
  if (turn instanceof Problem) return turn;
  const isCharged = isPolled ? await objects.isCharged(digest) : true;
  return isCharged instanceof Problem ? isCharged : { digest, turn, isCharged, takeTurn };
}

async function readFileId(text: Buffer): Promise<string | undefined> {
  try {
    return await fileOfBatch(text);
  } catch (error) {
    return refuseFault(error);
  }
}

type FileDeps = {
  readonly objects: TeamObjects;
  readonly references: readonly KeptReference[];
  readonly readId: ReadId | undefined;
  /** File that a batch of Gemini's names; undefined if its requests are in the body. */
  readonly fileId: string | undefined;
};

/** Opens the requests of the batch that a call begins: they are read before it begins. */
async function openFile(
  { firstReads }: KeptDeps,
  { kept, call, teamId, dialect, query, text, response }: AskedCall,
  holding: BatchHolding,
  { objects, references, readId, fileId }: FileDeps,
): Promise<BatchFile | Problem> {
  try {
    const asks = GATEWAY_OPERATIONS[call.operation].asks ?? "";
    const id = dialect === "gemini" ? fileId : (references[0]?.id ?? "");
    const digest = id === undefined ? undefined : objects.digestOf({ kind: "file", id });
    const turn = digest === undefined ? true : await firstReads.take(teamId, digest, response, NEVER);
    if (turn instanceof Problem) return turn;
    const deps = {
      ...holding,
      readId,
      query: kept.query ?? forwardedQuery(query),
      hold: (upstream: UpstreamRecord, named: readonly KeptReference[]) => objects.hold(upstream, named),
      onRead: (): void => void (typeof turn === "function" && turn()),
    };
    if (!isServedOperation(asks)) return await batchFile(text, query, references, deps);
    return geminiBatch(fileId, { ...deps, asks, pathModel: call.model });
  } catch (error) {
    return refuseFault(error);
  }
}

function sealing(keyring: Keyring, owner: string): Pick<ConstructorParameters<typeof OwnedList>[0], "seal" | "open"> {
  const aad = `position in a list: ${owner}`;
  return {
    seal: (position) => seal(keyring, position, aad).toString("base64url"),
    open: (sealed) => openSealed(keyring, Buffer.from(sealed, "base64url"), aad) ?? undefined,
  };
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
