import { condition } from "../domain/conditions.ts";
import { change } from "../store/change.ts";
import { findLibrary, removeLibrary, saveLibrary } from "../store/libraries.ts";
import { findTeamOfNamespace } from "../store/teams.ts";
import { type DeclaredObject, FINALIZER } from "./cluster/port.ts";
import type { ControllerDeps } from "./deps.ts";
import { declaredStatus, unclaimedStatus } from "./object-status.ts";
import { writeStatus } from "./status-write.ts";

/**
 * Brings a library into the store, as its namespace's team's.
 *
 * @param moved told, as soon as it is committed, that whoever refers to it has to be looked at
 */
export async function reconcileLibrary(
  deps: ControllerDeps,
  object: DeclaredObject<"MemoryLibrary">,
  moved: () => void,
): Promise<void> {
  const { cluster, store, fence } = deps;
  const { namespace, name, uid: ownerUid, spec } = object;
  if (object.deleting) {
    const policy = spec.deletionPolicy;
    await change(store, fence, (tx) => removeLibrary(tx, { cluster: cluster.uid, namespace, name, ownerUid, policy }));
    moved();
    await cluster.removeFinalizer(object);
    return;
  }
  if (!object.finalizers.includes(FINALIZER)) await cluster.addFinalizer(object);
  const team = await findTeamOfNamespace(store.db, cluster.uid, namespace);
  if (team === undefined) {
    await writeStatus(deps, object, unclaimedStatus(object, deps.clock.now()));
    return;
  }
  const before = await findLibrary(store.db, cluster.uid, namespace, name, team.id);
  const { result } = await change(store, fence, (tx) =>
    saveLibrary(tx, {
      cluster: cluster.uid,
      namespace,
      name,
      ownerUid,
      teamId: team.id,
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
  await writeStatus(deps, object, {
    ...declaredStatus(object, [accepted], deps.clock.now()),
    libraryID: result.libraryId,
    team: team.name,
  });
}
