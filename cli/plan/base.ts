import { declareKey } from "../../domain/key/fields/declare-key.ts";
import type { StoredKey, StoredVersion } from "../../domain/key/stored/stored-key.ts";
import type { Status } from "../../domain/kinds/kinds.ts";
import { isOfKind, type ManifestWorld, type WorldObject, worldOf } from "../../domain/manifest/set/manifest-world.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { versionStateOf } from "../source/version-state.ts";
import { forecastKey, type KeyForecast } from "./key-forecast.ts";
import type { CurrentObject } from "./make-plan.ts";
import { forecastObject } from "./object-forecast.ts";
import { readDeclared } from "./read-declared.ts";

/**
 * Returns the objects that an empty installation would hold once these manifests were applied, by the controller's own
 * decisions. Nothing is written. Manifests with faults are left out.
 *
 * @param now milliseconds since the epoch
 * @throws UsageError for a path that does not exist
 */
export function readBase(path: string, now: number): CurrentObject[] {
  const { declared, secrets } = readDeclared([path], undefined, () => undefined, true);
  const after = worldOf([...declared.values()]);
  const known = { declared: secrets, isThere: () => undefined };
  return after.objects.map((object) => {
    const { kind, namespace, name, spec, labels = {} } = object;
    const held = { kind, metadata: { namespace, name, uid: "base", labels }, spec };
    if (!isOfKind(object, "PlatformKey")) {
      const ready = { ...forecastObject(object, after, known), lastTransitionTime: rfc3339Millis(now) };
      return { ...held, status: { observedGeneration: 1, conditions: [ready] } };
    }
    const input = {
      declared: object,
      object: undefined,
      before: worldOf([]),
      after,
      secrets: known,
      since: () => now,
      now,
    };
    return { ...held, status: statusOf(object, forecastKey(input), after, now) };
  });
}

/** Returns the status that a plan compares with. Versions have no prefix, since nothing was minted. */
function statusOf(
  { namespace, name, spec }: WorldObject<"PlatformKey">,
  { stored, ready }: KeyForecast,
  world: ManifestWorld,
  now: number,
): Status<"PlatformKey"> {
  const team = world.teamOf(namespace);
  const lastTransitionTime = rfc3339Millis(now);
  const { secret } = declareKey(namespace, name, spec);
  return {
    observedGeneration: 1,
    ...(team === null ? {} : { team }),
    ...(stored === undefined ? {} : { keyID: `${namespace}/${name}`, versions: stored.versions.map(versionOf) }),
    ...(stored?.state === "revoked" ? { revocation: { sequence: 0 } } : {}),
    ...(isInOwnSecret(stored) ? { secretRef: { name: secret.name, dataKey: secret.dataKey } } : {}),
    conditions: [
      ...(ready === undefined ? [] : [{ ...ready, lastTransitionTime }]),
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
