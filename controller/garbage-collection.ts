import { type Answer, beginLook, endLook, LOOKS_APART_MS, type Suspects } from "../domain/garbage-collection.ts";
import type { Kind } from "../domain/manifest/kinds.ts";
import { change, type Db, type Tx } from "../store/database/change.ts";
import { orphanedGateways, releaseGateway } from "../store/gateways.ts";
import { orphanedKeys, revokeKey } from "../store/keys/keys.ts";
import type { Orphan, Orphans } from "../store/keys/orphans.ts";
import { orphanedLibraries, removeLibrary } from "../store/memory/libraries.ts";
import { deleteTeam, orphanedTeams } from "../store/teams.ts";
import type { ControllerDeps } from "./deps.ts";
import { forgetKey } from "./key/key-memory.ts";

/** From the end of a look to the next, in milliseconds: two of them come within a minute (threats c13). */
export const GARBAGE_COLLECTION_INTERVAL_MS = LOOKS_APART_MS + 500;

/** What of a kind outlives its declaration, and how it ends. */
export type Collected = {
  readonly kind: Kind;
  readonly find: (
    db: Db,
    cluster: string,
    namespaces: readonly string[] | null,
    presentUids: readonly string[],
  ) => Promise<Orphans>;
  readonly end: (tx: Tx, cluster: string, orphan: Orphan) => Promise<unknown>;
  /** For the log, before the declaration's kind and name. */
  readonly done: string;
};

/** What refers to another comes before it. */
export const COLLECTED: readonly Collected[] = [
  {
    kind: "PlatformKey",
    find: orphanedKeys,
    end: (tx, _, { id }) => revokeKey(tx, id, "Orphaned"),
    done: "revoked the key of",
  },
  {
    kind: "ModelGateway",
    find: orphanedGateways,
    end: (tx, cluster, { ownerUid }) => releaseGateway(tx, cluster, ownerUid),
    done: "took the gateway out of service of",
  },
  {
    kind: "MemoryLibrary",
    find: orphanedLibraries,
    // Whatever its policy was: nobody has asked for the end of its atoms.
    end: (tx, cluster, { namespace, name, ownerUid }) =>
      removeLibrary(tx, { cluster, namespace, name, ownerUid, policy: "Retain" }),
    done: "put the library out of reach, and kept its atoms, of",
  },
  {
    kind: "PlatformTeam",
    find: (db, cluster, _, presentUids) => orphanedTeams(db, cluster, presentUids),
    end: (tx, cluster, { name, ownerUid }) => deleteTeam(tx, cluster, name, ownerUid),
    done: "freed the namespaces of",
  },
];

/**
 * Makes the garbage collector: it ends what a declaration stood for that is gone though nothing told us so, its finalizer having
 * been stripped or the cluster restored. It touches this cluster's rows alone, and of those what the cluster itself says
 * to be gone, at two looks. Run it every {@link GARBAGE_COLLECTION_INTERVAL_MS}.
 *
 * @param monotonic milliseconds on a clock that never jumps
 */
export function createGarbageCollector(deps: ControllerDeps, monotonic: () => number): () => Promise<void> {
  let suspects: Suspects = new Map();
  return async () => {
    forgetGone(deps);
    suspects = await collectGarbage(deps, suspects, monotonic);
  };
}

/**
 * One look.
 *
 * @param before what the look before left
 * @returns what this one leaves: the suspects of the next
 */
export async function collectGarbage(
  deps: ControllerDeps,
  before: Suspects,
  monotonic: () => number,
): Promise<Suspects> {
  const left: [string, { readonly goneAt: number | undefined }][] = [];
  for (const collected of COLLECTED) left.push(...(await collectKind(deps, collected, before, monotonic)));
  return new Map(left);
}

async function collectKind(
  deps: ControllerDeps,
  { kind, ...collected }: Collected,
  before: Suspects,
  monotonic: () => number,
): Promise<Suspects> {
  const { cluster, store, fence, log } = deps;
  const listed = cluster.listedNamespaces(kind);
  if (listed?.length === 0) return new Map();
  const { orphans, total } = await collected.find(store.db, cluster.uid, listed, cluster.uids(kind));
  const look = beginLook(orphans, total, before);
  const answers = new Map<string, Answer>();
  const askFor = async ({ id, namespace, name, ownerUid }: Orphan) => {
    const askedAt = monotonic();
    answers.set(id, { presence: await cluster.lookUp({ kind, namespace, name }, ownerUid), askedAt });
  };
  await Promise.all(look.ask.map(askFor));
  const { ended, left } = endLook(look, answers, before);
  const isListWrong = [...answers.values()].some(({ presence }) => presence === "present");
  if (look.isPaused && !isListWrong) {
    log(
      "error",
      `garbage collection is paused: too many ${kind} declarations have gone at once; see that they are complete, and what keyplane doctor --after-restore says`,
      { gone: look.suspects.length, of: total },
    );
  }
  for (const orphan of ended) {
    await change(store, fence, (tx) => collected.end(tx, cluster.uid, orphan));
    const name = orphan.namespace === "" ? orphan.name : `${orphan.namespace}/${orphan.name}`;
    log("warn", `${collected.done} ${kind} ${name}, whose declaration is gone`);
  }
  return left;
}

/** A secret whose declaration is gone, its finalizer stripped, is nobody's. */
function forgetGone({ cluster, keyMemory }: ControllerDeps): void {
  // One that is in doubt may be in the middle of being delivered.
  const uids = new Set([...cluster.uids("PlatformKey"), ...cluster.list("PlatformKey").map(({ uid }) => uid)]);
  for (const known of Object.values(keyMemory)) {
    for (const uid of known.keys()) if (!uids.has(uid)) forgetKey(keyMemory, uid);
  }
}
