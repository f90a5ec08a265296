import type { Kind } from "../domain/manifest/kinds.ts";
import { change, type Db, type Tx } from "../store/change.ts";
import { orphanedGateways, releaseGateway } from "../store/gateways.ts";
import { orphanedKeys, revokeKey } from "../store/keys.ts";
import { orphanedLibraries, removeLibrary } from "../store/libraries.ts";
import type { Orphan, Orphans } from "../store/orphans.ts";
import { deleteTeam, orphanedTeams } from "../store/teams.ts";
import type { ControllerDeps } from "./deps.ts";
import { forgetKey } from "./key-memory.ts";

/** Time between two looks, in milliseconds: two that agree come within a minute (threats c13). */
export const SWEEP_INTERVAL = 20_000;
/** A sweep that would end more than this many of one kind, and more than this share of them, stops and says so. */
const BRAKE_COUNT = 10;
const BRAKE_SHARE = 0.05;

/** What of a kind outlives its declaration, and how it ends. */
export type Sweeping = {
  readonly kind: Kind;
  readonly find: (
    db: Db,
    cluster: string,
    namespaces: readonly string[] | null,
    presentUids: readonly string[],
  ) => Promise<Orphans>;
  readonly end: (tx: Tx, cluster: string, orphan: Orphan, now: number) => Promise<unknown>;
  /** For the log, before the declaration's kind and name. */
  readonly done: string;
};

/** What refers to another comes before it. */
export const SWEPT: readonly Sweeping[] = [
  {
    kind: "PlatformKey",
    find: orphanedKeys,
    end: (tx, _, { id }, now) => revokeKey(tx, id, "Orphaned", now),
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
 * Makes the sweep: it ends what a declaration stood for that is gone though nothing told us so, its finalizer having
 * been stripped or the cluster restored. It touches this cluster's rows alone, older than the list, after two lists
 * that agree. Run it every {@link SWEEP_INTERVAL}.
 */
export function createSweep(deps: ControllerDeps): () => Promise<void> {
  let suspects: ReadonlySet<string> = new Set();
  return async () => {
    forgetGone(deps);
    suspects = await sweep(deps, suspects);
  };
}

/**
 * One look.
 *
 * @param suspects the ids that the look before found
 * @returns those that this look found and did not end: the suspects of the next
 */
export async function sweep(deps: ControllerDeps, suspects: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found: string[] = [];
  for (const sweeping of SWEPT) found.push(...(await sweepKind(deps, sweeping, suspects)));
  return new Set(found);
}

async function sweepKind(deps: ControllerDeps, { kind, ...sweeping }: Sweeping, suspects: ReadonlySet<string>) {
  const listedAt = deps.clock.now();
  const { cluster, store, fence, log } = deps;
  const listed = cluster.listedNamespaces(kind);
  const { orphans, total } = await sweeping.find(store.db, cluster.uid, listed, cluster.uids(kind));
  const old = orphans.filter(({ createdAt }) => createdAt < listedAt - SWEEP_INTERVAL);
  const agreed = old.filter(({ id }) => suspects.has(id));
  if (brakes(agreed.length, total)) {
    log(
      "error",
      `the sweep is paused: too many ${kind} declarations have gone at once; see that they are complete, and what keyplane doctor --after-restore says`,
      { gone: agreed.length, of: total },
    );
    return old.map(({ id }) => id);
  }
  for (const orphan of agreed) {
    await change(store, fence, (tx) => sweeping.end(tx, cluster.uid, orphan, deps.clock.now()));
    const name = orphan.namespace === "" ? orphan.name : `${orphan.namespace}/${orphan.name}`;
    log("warn", `${sweeping.done} ${kind} ${name}, whose declaration is gone`);
  }
  return old.filter((orphan) => !agreed.includes(orphan)).map(({ id }) => id);
}

/** A secret whose declaration is gone, its finalizer stripped, is nobody's. */
function forgetGone({ cluster, keyMemory }: ControllerDeps): void {
  const uids = new Set(cluster.uids("PlatformKey"));
  for (const known of Object.values(keyMemory)) {
    for (const uid of known.keys()) if (!uids.has(uid)) forgetKey(keyMemory, uid);
  }
}

/** Whether so many declarations that are gone are more than a sweep may believe in. */
export function brakes(gone: number, total: number): boolean {
  return gone > BRAKE_COUNT && gone > total * BRAKE_SHARE;
}
