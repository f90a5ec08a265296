import { condition } from "../../domain/conditions.ts";
import { libraryGateways } from "../../domain/object-conditions.ts";
import { change } from "../../store/database/change.ts";
import { type DeletionProgress, deletionProgress, libraryDeletion } from "../../store/libraries/deleted-libraries.ts";
import { removeLibrary, saveLibrary } from "../../store/libraries/libraries.ts";
import { findActiveObject, listObjects } from "../../store/objects/objects.ts";
import { findTeamOfNamespace } from "../../store/teams/teams.ts";
import { mergeConditions } from "../cluster/merge-conditions.ts";
import { type DeclaredObject, FINALIZER } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { declaredStatus, unclaimedStatus } from "../context/object-status.ts";
import { AT_REST, type ReconcileResult } from "../context/reconcile-result.ts";
import { writeStatus } from "../context/status-write.ts";
import { hasGivenUp } from "../team/given-up.ts";
import { reconcileEmbedding } from "./library-embedding.ts";
import { reconcileExtraction } from "./library-extraction.ts";

/**
 * Number of slices that a worker deletes before it turns to other objects, and milliseconds until it goes on. The
 * servers delete meanwhile too.
 */
const SLICES_A_ROUND = 20;
const NEXT_ROUND_MS = 1_000;

/**
 * Brings a library into the store, as its namespace's team's.
 *
 * @param moved called as soon as the change is committed: what refers to the library has to be looked at
 */
export async function reconcileLibrary(
  deps: ControllerDeps,
  object: DeclaredObject<"MemoryLibrary">,
  moved: () => void,
): Promise<ReconcileResult> {
  const { cluster, store, fence } = deps;
  const { namespace, name, uid: ownerUid, spec } = object;
  if (object.deleting) return endLibrary(deps, object, moved);
  if (!object.finalizers.includes(FINALIZER)) await cluster.addFinalizer(object);
  const team = await findTeamOfNamespace(store.db, cluster.uid, namespace);
  if (team === undefined) {
    await writeStatus(deps, object, unclaimedStatus(object, deps.clock.now()));
    return AT_REST;
  }
  const reference = { cluster: cluster.uid, namespace, name, teamId: team.id };
  const before = await findActiveObject(store.db, "library", reference);
  const { result } = await change(store, fence, (tx) =>
    saveLibrary(tx, {
      ...reference,
      ownerUid,
      displayName: spec.displayName ?? name,
      description: spec.description ?? "",
      deletionPolicy: spec.deletionPolicy,
    }),
  );
  if (before?.id !== result.libraryId) moved();
  const accepted = condition(
    "Accepted",
    "True",
    "Accepted",
    "The library is there, and its namespace belongs to a team.",
  );
  const library = { id: result.libraryId, teamId: team.id };
  const embedding = await reconcileEmbedding(deps, object, library);
  const gateways = libraryGateways([...embedding.gateways, ...(await reconcileExtraction(deps, object, library))]);
  const now = deps.clock.now();
  const { conditions = [], ...status } = declaredStatus(object, [accepted, ...(gateways ? [gateways] : [])], now);
  await writeStatus(deps, object, {
    ...status,
    // No part of Ready: what is not embedded yet is found by its words.
    conditions: [...conditions, ...mergeConditions(object, embedding.progress, now)],
    libraryID: result.libraryId,
    team: team.name,
  });
  return embedding.result;
}

/**
 * Puts a library out of reach at once. With `Delete` the declaration stays until its atoms are gone, and its status
 * reports the progress (threats c52). Where the library's team has lost the namespace or given it up, the atoms stay with
 * that team (threats b448).
 */
async function endLibrary(
  deps: ControllerDeps,
  object: DeclaredObject<"MemoryLibrary">,
  moved: () => void,
): Promise<ReconcileResult> {
  const { cluster, store, fence } = deps;
  const { namespace, name, uid: ownerUid } = object;
  const progress = () => deletionProgress(store.db, cluster.uid, ownerUid);
  let under = await progress();
  if (under === undefined) {
    await change(store, fence, async (tx) => {
      const [stored] = await listObjects(tx, "library", { cluster: cluster.uid, ownerUid, limit: 1 });
      const holder = await findTeamOfNamespace(tx, cluster.uid, namespace);
      const isMoved =
        stored !== undefined &&
        ((holder !== undefined && holder.id !== stored.teamId) || hasGivenUp(cluster, stored.team, namespace));
      const policy = isMoved ? "Retain" : object.spec.deletionPolicy;
      await removeLibrary(tx, { cluster: cluster.uid, namespace, name, ownerUid, policy });
    });
    moved();
    under = await progress();
  }
  if (under !== undefined) {
    const deletion = libraryDeletion(store, { libraryId: under.libraryId });
    for (let slices = 0; slices < SLICES_A_ROUND && (await deletion.next()); slices++);
    under = await progress();
  }
  if (under === undefined) {
    await cluster.removeFinalizer(object);
    return AT_REST;
  }
  const deleting = condition(
    "Accepted",
    "False",
    "Deleting",
    `The library's atoms are being deleted: ${inWords(under)}.`,
  );
  await writeStatus(deps, object, declaredStatus(object, [deleting], deps.clock.now()));
  return { requeueAfterMs: NEXT_ROUND_MS };
}

/** Says how far a deletion is, in round numbers: the deletion of a million atoms takes a hundred different messages. */
function inWords({ deleted, left, isMore }: DeletionProgress): string {
  const step = deleted < 10_000 ? 1_000 : 10_000;
  const done = deleted < step ? `${deleted}` : `more than ${(Math.floor(deleted / step) * step).toLocaleString("en")}`;
  return `${done} are gone, ${isMore ? "more than " : ""}${left.toLocaleString("en")} are left`;
}
