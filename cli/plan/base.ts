import { declareKey } from "../../domain/key/fields/declare-key.ts";
import { resolveReferences } from "../../domain/key/observed/resolve-references.ts";
import { type StoredKey, type StoredVersion, versionIn } from "../../domain/key/stored/stored-key.ts";
import type { Status } from "../../domain/kinds/kinds.ts";
import { isOfKind, type ManifestWorld, type WorldObject, worldOf } from "../../domain/manifest/set/manifest-world.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { versionStateOf } from "../source/version-state.ts";
import { assertPresent } from "../validate/manifest-files.ts";
import { forecastKey, type KeyForecast } from "./key-forecast.ts";
import type { KeyObject } from "./key-of-status.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import type { CurrentObject } from "./make-plan.ts";
import { forecastObject } from "./object-forecast.ts";
import { readDeclared } from "./read-declared.ts";

/**
 * Returns the objects that an installation would hold once these manifests were applied, by the controller's own
 * decisions. A key of a team counts as issued, whatever would keep it from that now. Nothing is written. Manifests with
 * faults are left out.
 *
 * @param now milliseconds since the epoch
 * @throws UsageError for a path that does not exist, and for standard input
 */
export function readBase(path: string, now: number): CurrentObject[] {
  assertPresent([path], "--base ");
  const { declared, secrets } = readDeclared([path], undefined, () => undefined, true);
  const after = worldOf([...declared.values()]);
  const known = { declared: secrets, isThere: () => undefined };
  const statusOfKey = keyStatuses(after, known, now);
  return after.objects.map((object) => {
    const { kind, namespace, name, spec, labels = {} } = object;
    const metadata = { namespace, name, uid: "base", labels };
    if (isOfKind(object, "PlatformKey")) return { kind, metadata, spec, status: statusOfKey(object, metadata) };
    const ready = { ...forecastObject(object, after, known), lastTransitionTime: rfc3339Millis(now) };
    return { kind, metadata, spec, status: { observedGeneration: 1, conditions: [ready] } };
  });
}

type KeyStatuses = (key: WorldObject<"PlatformKey">, metadata: KeyObject["metadata"]) => Status<"PlatformKey">;

/** Returns a look-up of the status that each key has once it was issued, and then brought to its declared state. */
function keyStatuses(world: ManifestWorld, secrets: KnownSecrets, now: number): KeyStatuses {
  const unhindered = withoutHindrance(world);
  const facts = { secrets, since: () => now, now, isMadeAgain: false };
  return (key, metadata) => {
    const { expiresAt: _, ...lasting } = key.spec;
    const spec = { ...lasting, state: "Active" as const };
    const active = { ...key, spec };
    const birth = forecastKey({ ...facts, declared: active, object: undefined, before: NOTHING, after: unhindered });
    const object = { metadata, spec, status: statusOf(active, birth, world, now) };
    return statusOf(
      key,
      forecastKey({ ...facts, declared: key, object, before: unhindered, after: world }),
      world,
      now,
    );
  };
}

const NOTHING = worldOf([]);

/**
 * Returns the world in which a key of a team is issued, whatever it refers to and whichever policies there are by now:
 * these may be younger than the key, and what it refers to may be declared elsewhere.
 */
function withoutHindrance(world: ManifestWorld): ManifestWorld {
  return {
    ...world,
    objects: world.objects.filter((object) => !isOfKind(object, "PlatformKeyPolicy")),
    resolve: (declared, namespace, ownTeamId) =>
      resolveReferences(declared, {
        teamId: world.teamOf(namespace),
        ownTeamId,
        find: (_, ref) => ({ id: `${ref.namespace}/${ref.name}` }),
      }),
  };
}

/** Returns the status that a plan compares with. Versions have no prefix, since nothing was minted. */
function statusOf(
  { namespace, name, spec }: WorldObject<"PlatformKey">,
  { stored, ready, policy }: KeyForecast,
  world: ManifestWorld,
  now: number,
): Status<"PlatformKey"> {
  const team = world.teamOf(namespace);
  const lastTransitionTime = rfc3339Millis(now);
  const { secret } = declareKey(namespace, name, spec);
  const active = versionIn(stored, "active");
  return {
    observedGeneration: 1,
    ...(team === null ? {} : { team }),
    ...(stored === undefined ? {} : { keyID: `${namespace}/${name}`, versions: stored.versions.map(versionOf) }),
    ...(active === undefined ? {} : { restartedVersion: active.number }),
    ...(stored?.state === "revoked" ? { revocation: { sequence: 0 } } : {}),
    ...(isInOwnSecret(stored) ? { secretRef: { name: secret.name, dataKey: secret.dataKey } } : {}),
    conditions: [
      ...[ready, policy].flatMap((one) => (one === undefined ? [] : [{ ...one, lastTransitionTime }])),
      ...(isInOwnSecret(stored)
        ? [{ type: "SecretDelivered", status: "True" as const, reason: "Delivered", message: "", lastTransitionTime }]
        : []),
    ],
  };
}

/** True if a version of the key is in a Secret that Keyplane writes. An imported version is in none. */
function isInOwnSecret(stored: StoredKey | undefined): boolean {
  return stored?.versions.some(({ state, imported }) => state === "active" && !imported) ?? false;
}

function versionOf({ number, state, mintedAt, activatedAt, expiresAt }: StoredVersion) {
  return {
    number,
    state: versionStateOf(state),
    mintedAt: rfc3339Millis(mintedAt),
    ...(activatedAt === null ? {} : { activatedAt: rfc3339Millis(activatedAt) }),
    ...(expiresAt === null ? {} : { expiresAt: rfc3339Millis(expiresAt) }),
  };
}
