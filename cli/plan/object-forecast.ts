/** Forecast of the status of a team, a policy, a library or a gateway, by the controller's own decisions. */
import type { StatedCondition } from "../../domain/conditions.ts";
import type { NamedRef } from "../../domain/key/declaration/declared-key.ts";
import { selectsTeam } from "../../domain/key/policies/team-selector.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "../../domain/manifest/set/manifest-world.ts";
import {
  gatewayCredentials,
  type LibraryGateway,
  libraryGateways,
  namespaceClaims,
  namespaceUnclaimed,
  policyInForce,
  policySelection,
  publicIdAccepted,
  readyOf,
  teamLibraries,
} from "../../domain/object-conditions.ts";
import { isReservedNamespace } from "../../domain/reserved-namespaces.ts";
import { isMissing, type KnownSecrets } from "./known-secrets.ts";

/**
 * Returns the object's `Ready` condition, as far as manifests determine it. A Secret of which nothing is known blocks
 * nothing.
 */
export function forecastObject(object: WorldObject, world: ManifestWorld, secrets: KnownSecrets): StatedCondition {
  if (isOfKind(object, "PlatformTeam")) return readyOf(teamConditions(object, world));
  if (isOfKind(object, "PlatformKeyPolicy")) return readyOf(policyConditions(object, world));
  const team = world.teamOf(object.namespace);
  if (team === null) return readyOf([namespaceUnclaimed()]);
  if (isOfKind(object, "MemoryLibrary")) return readyOf(libraryConditions(object, team, world));
  return readyOf(isOfKind(object, "ModelGateway") ? gatewayConditions(object, world, secrets) : []);
}

function teamConditions({ name, spec }: WorldObject<"PlatformTeam">, world: ManifestWorld): StatedCondition[] {
  const reserved = spec.namespaces.filter((namespace) => isReservedNamespace(namespace, undefined));
  const refused = spec.namespaces.flatMap((namespace) => {
    const heldBy = world.teamOf(namespace);
    return heldBy === null || heldBy === name ? [] : [{ namespace, heldBy }];
  });
  const isAbsent = (ref: NamedRef) => !world.isOfTeam("MemoryLibrary", ref, name);
  const policy = spec.mcpAgentPolicy?.defaultLibraryRef;
  const ofMembers = spec.members.flatMap(({ libraryRefs = [] }) => libraryRefs).filter(isAbsent);
  const libraries = teamLibraries(
    policy !== undefined && isAbsent(policy),
    ofMembers.map(({ namespace, name }) => `${namespace}/${name}`),
  );
  return [namespaceClaims(refused, reserved), ...(libraries === undefined ? [] : [libraries])];
}

function policyConditions({ spec }: WorldObject<"PlatformKeyPolicy">, { objects }: ManifestWorld): StatedCondition[] {
  const teams = objects
    .filter((object) => isOfKind(object, "PlatformTeam"))
    .filter(({ name, labels = {} }) => selectsTeam(spec.teamSelector, { name, labels }));
  return [policyInForce(), policySelection(teams.length)];
}

function libraryConditions(
  { namespace, spec }: WorldObject<"MemoryLibrary">,
  team: string,
  world: ManifestWorld,
): StatedCondition[] {
  const named = (["embedding", "extraction"] as const).flatMap((field): LibraryGateway[] => {
    const declared = spec[field];
    if (declared === undefined) return [];
    const ref = { namespace, ...declared.gatewayRef };
    const isThere = world.isOfTeam("ModelGateway", ref, team);
    return [{ field, isThere, gateway: `${ref.namespace}/${ref.name}` }];
  });
  return [libraryGateways(named) ?? []].flat();
}

function gatewayConditions(
  { namespace, name, spec: { publicID, upstreams } }: WorldObject<"ModelGateway">,
  world: ManifestWorld,
  secrets: KnownSecrets,
): StatedCondition[] {
  const holder = publicID === undefined ? undefined : world.publicIdHolder(publicID);
  const isTaken = holder !== undefined && (holder.namespace !== namespace || holder.name !== name);
  const missing = upstreams.flatMap(({ name: upstream, credentialRef }) => {
    if (credentialRef === undefined) return [];
    const { name: secret, key } = credentialRef;
    const ref = { namespace, name: secret };
    const writer = world.secretWriter(ref);
    if (writer !== undefined && isWritten(writer, ref, secrets)) {
      return [{ upstream, secret, key, writtenBy: writer.name }];
    }
    return isMissing(secrets, ref, key) ? [{ upstream, secret, key }] : [];
  });
  const without = upstreams.filter(({ credentialRef }) => credentialRef === undefined).map((upstream) => upstream.name);
  return [publicIdAccepted(publicID ?? "", isTaken), gatewayCredentials(missing, without)];
}

/** True if a key writes the Secret that it names: a Secret that is there before the key is another owner's. */
function isWritten({ createdAt }: WorldObject, ref: NamedRef, { declared, isThere }: KnownSecrets): boolean {
  return !declared.has(`${ref.namespace}/${ref.name}`) && (createdAt !== undefined || isThere(ref) !== true);
}
