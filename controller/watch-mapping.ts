import { KINDS } from "../domain/kinds/kinds.ts";
import type { Cluster, ClusterChange, DeclaredObject, ObjectRef } from "./cluster/port.ts";
import { createSecretIndex } from "./cluster/secret-names.ts";

/**
 * Makes a function that returns the objects to reconcile because of a change that a cluster reports. It keeps account
 * of which objects name which Secrets, so it has to be called with every change.
 */
export function createWatchMapping(cluster: Cluster): (change: ClusterChange) => ObjectRef[] {
  const index = createSecretIndex();
  return (change) => {
    if (change.of === "secret") return [...index.namersOf(change.namespace, change.name)];
    index.note(change, cluster.get(change.kind, change.namespace, change.name));
    return [change];
  };
}

/**
 * Returns the objects to reconcile because namespaces may belong to another team now: the other teams that want one of
 * them, since one claim was stored and others may now get theirs; and everything in them, libraries and gateways before
 * the keys that refer to them.
 *
 * @param team the team whose change it was; undefined if another controller has stored it
 */
export function requestsForMove(
  cluster: Cluster,
  team: ObjectRef<"PlatformTeam"> | undefined,
  namespaces: readonly string[],
): ObjectRef[] {
  const isWithin = (object: DeclaredObject) => namespaces.includes(object.namespace);
  const claimants = cluster
    .list("PlatformTeam")
    .filter(({ name, spec }) => name !== team?.name && spec.namespaces.some((one) => namespaces.includes(one)));
  return [
    ...claimants,
    ...[...cluster.list("MemoryLibrary"), ...cluster.list("ModelGateway"), ...cluster.list("PlatformKey")].filter(
      isWithin,
    ),
  ];
}

/** Returns the objects to reconcile because a gateway came, went or let go of its public id. */
export function requestsForGateway(cluster: Cluster, gateway: DeclaredObject<"ModelGateway">): ObjectRef[] {
  const publicID = gateway.spec.publicID ?? gateway.status?.publicID;
  const sharing = cluster
    .list("ModelGateway")
    .filter(({ uid, spec }) => publicID !== undefined && spec.publicID === publicID && uid !== gateway.uid);
  const libraries = cluster.list("MemoryLibrary").filter(({ namespace: own, spec }) => {
    const refs = [spec.embedding?.gatewayRef, spec.extraction?.gatewayRef];
    return refs.some((ref) => ref?.name === gateway.name && (ref.namespace ?? own) === gateway.namespace);
  });
  return [...sharing, ...libraries, ...keysReferringTo(cluster, gateway)];
}

/** Returns the objects to reconcile because a library came or went: keys, and teams whose policy or members name it. */
export function requestsForLibrary(cluster: Cluster, library: DeclaredObject<"MemoryLibrary">): ObjectRef[] {
  const teams = cluster.list("PlatformTeam").filter(({ spec }) => {
    const refs = [
      spec.mcpAgentPolicy?.defaultLibraryRef,
      ...spec.members.flatMap(({ libraryRefs = [] }) => libraryRefs),
    ];
    return refs.some((ref) => ref?.name === library.name && ref.namespace === library.namespace);
  });
  return [...keysReferringTo(cluster, library), ...teams];
}

/** Returns every object that there is. */
export function allObjects(cluster: Cluster): DeclaredObject[] {
  return KINDS.flatMap((kind) => [...cluster.list(kind)]);
}

function keysReferringTo(cluster: Cluster, { kind, namespace, name }: DeclaredObject): DeclaredObject<"PlatformKey">[] {
  return cluster.list("PlatformKey").filter(({ namespace: own, spec }) => {
    const refs =
      kind === "ModelGateway"
        ? [spec.gatewayRef]
        : [spec.mcpDefaultLibraryRef, ...(spec.libraryAccess?.libraryRefs ?? [])];
    return refs.some((ref) => ref !== undefined && ref.name === name && (ref.namespace ?? own) === namespace);
  });
}
