import { setTimeout as delay } from "node:timers/promises";
import {
  ANSWERS_APART_MS,
  beginOrphanScan,
  judgeSuspect,
  type Suspect,
  type Suspects,
} from "../domain/garbage-collection.ts";
import type { Kind } from "../domain/kinds/kinds.ts";
import { createSerial } from "../runtime/serial.ts";
import { change, type Tx } from "../store/database/change.ts";
import { StaleLeaderError } from "../store/database/errors.ts";
import { releaseGateway } from "../store/gateways/gateways.ts";
import { removeLibrary } from "../store/libraries/libraries.ts";
import { findOrphans, type Orphan, type StoredKind } from "../store/orphans.ts";
import { deleteTeam } from "../store/teams/teams.ts";
import { titleOf } from "./cluster/titles.ts";
import type { KeyDeps } from "./key/key-deps.ts";
import { forgetKey } from "./key/key-memory.ts";

/**
 * Milliseconds from the beginning of a look to the beginning of the next: two looks come within a minute (threats c13).
 */
export const GARBAGE_COLLECTION_INTERVAL_MS = ANSWERS_APART_MS + 500;

/** Stored objects of a kind that may outlive their declarations, and how they end. */
type Collected = {
  readonly kind: StoredKind;
  readonly end: (deps: KeyDeps, orphan: Orphan) => Promise<unknown>;
  /** True if objects that end at once do so in one transaction; otherwise one ends after the other. */
  readonly endsTogether: boolean;
  /** Text for the log, before the declaration's kind and name. */
  readonly done: (orphan: Orphan) => string;
};

const inTransaction =
  (end: (tx: Tx, cluster: string, orphan: Orphan) => Promise<unknown>): Collected["end"] =>
  ({ store, fence, cluster }, orphan) =>
    change(store, fence, (tx) => end(tx, cluster.uid, orphan));

/** Kinds that are collected: a kind that refers to another comes before it. */
export const COLLECTED: readonly Collected[] = [
  {
    kind: "PlatformKey",
    // A key with Retain is declared to outlive its declaration, however that went.
    end: ({ keyChanges }, { id, isRetained }) =>
      isRetained ? keyChanges.release(id) : keyChanges.revoke(id, "Orphaned"),
    endsTogether: true,
    done: ({ id, isRetained }) =>
      isRetained ? `released key ${id}, which works on (Retain), of` : "revoked the key of",
  },
  {
    kind: "ModelGateway",
    end: inTransaction((tx, cluster, { ownerUid }) => releaseGateway(tx, cluster, ownerUid)),
    endsTogether: false,
    done: () => "took the gateway out of service of",
  },
  {
    kind: "MemoryLibrary",
    // Retained whatever its policy was: no person has asked for the deletion of its atoms.
    end: inTransaction((tx, cluster, { namespace, name, ownerUid }) =>
      removeLibrary(tx, { cluster, namespace, name, ownerUid, policy: "Retain" }),
    ),
    endsTogether: false,
    done: () => "put the library out of reach, and kept its atoms, of",
  },
  {
    kind: "PlatformTeam",
    end: inTransaction((tx, cluster, { name, ownerUid }) => deleteTeam(tx, { cluster, name, ownerUid })),
    endsTogether: false,
    done: () => "freed the namespaces of",
  },
];

/**
 * Makes the garbage collector. It ends what belongs to declarations that are gone without a report of their deletion,
 * since a finalizer was stripped or the cluster restored. It touches this cluster's rows alone, and only those whose
 * declarations the cluster itself reports as gone, at two looks. Run it once the lists are complete, and then every
 * {@link GARBAGE_COLLECTION_INTERVAL_MS}.
 *
 * @param monotonic milliseconds on a clock that never jumps
 */
export function createGarbageCollector(
  deps: KeyDeps,
  monotonic: () => number,
  signal: AbortSignal,
): () => Promise<void> {
  const suspects: SuspectsByKind = new Map();
  return async () => {
    forgetGone(deps);
    await collectGarbage(deps, suspects, monotonic, signal);
  };
}

/** Suspects that the last look at each kind has left. */
export type SuspectsByKind = Map<Kind, Suspects>;

/**
 * Takes one look. An object that cannot be ended is tried again at the next look, and holds up nothing else.
 *
 * @param suspects the suspects of the look before; then those of this look, as far as it has come
 * @throws StaleLeaderError at once; any other error at the end, and of several the first
 */
export async function collectGarbage(
  deps: KeyDeps,
  suspects: SuspectsByKind,
  monotonic: () => number,
  signal: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  const attempt = (task: Promise<void>) =>
    task.catch((error) => {
      if (error instanceof StaleLeaderError) throw error;
      failures.push(error);
    });
  for (const collected of COLLECTED) {
    await attempt(collectKind(deps, collected, suspects, { monotonic, signal, attempt }));
  }
  if (failures.length > 0) throw failures[0];
}

/** Context that the looks at all kinds share. */
type Looking = {
  readonly monotonic: () => number;
  readonly signal: AbortSignal;
  /** Resolves even if the task has failed, unless with a StaleLeaderError. */
  readonly attempt: (task: Promise<void>) => Promise<void>;
};

async function collectKind(
  deps: KeyDeps,
  collected: Collected,
  suspects: SuspectsByKind,
  { monotonic, signal, attempt }: Looking,
): Promise<void> {
  const { cluster, store, log, onCollected } = deps;
  const { kind, endsTogether } = collected;
  const before = suspects.get(kind) ?? new Map<string, Suspect>();
  const listed = cluster.listedNamespaces(kind);
  if (listed?.length === 0) return void suspects.delete(kind);
  const { orphans, total } = await findOrphans(store.db, kind, {
    cluster: cluster.uid,
    namespaces: listed,
    uids: cluster.uids(kind),
  });
  const look = beginOrphanScan(orphans, total, before);
  const left = new Map(look.suspects.map(({ id }): [string, Suspect] => [id, before.get(id) ?? { goneAt: undefined }]));
  suspects.set(kind, left);
  let isListWrong = false;
  // One at a time: however many end, others have the database in between.
  const serially = createSerial();

  /**
   * Looks up the declaration of an orphan, and ends it by that answer alone: of many orphans, the first do not wait for
   * the last.
   */
  async function askFor(orphan: Orphan): Promise<void> {
    const { id, namespace, name, ownerUid } = orphan;
    const goneAt = before.get(id)?.goneAt;
    if (goneAt !== undefined) await delayed(goneAt + ANSWERS_APART_MS - monotonic(), signal);
    const askedAt = monotonic();
    const presence = await cluster.lookUp({ kind, namespace, name }, ownerUid);
    if (presence === "present") isListWrong = true;
    const verdict = judgeSuspect(look, { presence, askedAt, answeredAt: monotonic() }, before.get(id));
    const endIt = () => end(deps, collected, orphan);
    if (verdict.ends) await (endsTogether ? endIt() : serially(kind, endIt));
    if (verdict.left === undefined) left.delete(id);
    else left.set(id, verdict.left);
  }

  await Promise.all(look.ask.map((orphan) => attempt(askFor(orphan))));
  const isPaused = look.isPaused && !isListWrong;
  onCollected?.(kind, isPaused);
  if (isPaused) {
    log(
      "error",
      `garbage collection is paused: too many ${kind} declarations disappeared at once; check that they are complete, and run keyplane doctor --after-restore`,
      { gone: look.suspects.length, of: total },
    );
  }
}

async function end(deps: KeyDeps, { kind, end, done }: Collected, orphan: Orphan): Promise<void> {
  await end(deps, orphan);
  deps.log("warn", `${done(orphan)} ${titleOf({ ...orphan, kind })}, whose declaration is gone`);
}

async function delayed(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => {});
}

/** Forgets the secrets of keys whose declarations are gone, as after their finalizers were stripped. */
function forgetGone({ cluster, keyMemory }: KeyDeps): void {
  // The secret of a key in doubt is kept: it may be on its way to its Secret.
  const uids = new Set([...cluster.uids("PlatformKey"), ...cluster.list("PlatformKey").map(({ uid }) => uid)]);
  for (const known of Object.values(keyMemory)) {
    for (const uid of known.keys()) if (!uids.has(uid)) forgetKey(keyMemory, uid);
  }
}
