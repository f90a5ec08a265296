/** Key as its status shows it, in a data folder or a cluster: all that is stored, except the secret and its digest. */

import type { VersionState } from "../../domain/access/key-record.ts";
import { findCondition, type Reason } from "../../domain/conditions.ts";
import { type DeclaredKey, isSecretCollected } from "../../domain/key/declaration/declared-key.ts";
import { declareKey } from "../../domain/key/fields/declare-key.ts";
import { NO_POLICY, policyOf } from "../../domain/key/fields/key-policies.ts";
import type { ObservedSecret } from "../../domain/key/observed/observed-key.ts";
import { type StoredKey, type StoredVersion, versionIn } from "../../domain/key/stored/stored-key.ts";
import type { ManifestWorld } from "../../domain/manifest/set/manifest-world.ts";
import type { StatusObject } from "../data/status-files.ts";

export type KeyObject = StatusObject<"PlatformKey">;

/** Key of which nothing is known yet; `NO_VERSION` is the same for a version. */
const NO_KEY: StoredKey = {
  id: "",
  cluster: "",
  namespace: "",
  name: "",
  ownerUid: null,
  teamId: "",
  source: "Generate",
  state: "active",
  policy: NO_POLICY,
  generation: 1,
  createdAt: 0,
  revocation: null,
  rotationRequest: null,
  lastNumber: 0,
  versions: [],
};
const NO_VERSION: StoredVersion = {
  number: 1,
  digest: "",
  prefix: "",
  state: "reserved",
  // No status says so.
  mayBeRead: true,
  imported: false,
  mintedAt: 0,
  activatedAt: null,
  retireAt: null,
  expiresAt: null,
  rotationTrigger: null,
  heals: null,
  lastUsedAt: null,
  leakedAt: null,
};

/**
 * Returns the stored key as the object's status shows it; undefined if the object has no key yet. Ids of references are
 * names, as in {@link ManifestWorld}.
 */
export function storedKey({ metadata, spec, status }: KeyObject, world: ManifestWorld): StoredKey | undefined {
  if (spec === undefined || status?.keyID === undefined) return undefined;
  const { namespace, name } = metadata;
  const declared = declareKey(namespace, name, spec);
  const { references } = world.resolve(declared, namespace, status.team ?? null);
  const versions = (status.versions ?? []).map((version) => ({
    ...NO_VERSION,
    number: version.number,
    prefix: version.keyPrefix ?? "",
    state: version.state.toLowerCase() as VersionState,
    // Of a key that was taken over any version may be the one that no Secret holds.
    imported: spec.source.type !== "Generate" && (version.number === 1 || status.secretRef === undefined),
    mintedAt: time(version.mintedAt) ?? 0,
    activatedAt: time(version.activatedAt),
    retireAt: time(version.retiresAt),
    expiresAt: time(version.expiresAt),
    rotationTrigger: declared.rotationTrigger,
    lastUsedAt: time(version.lastUsedTime),
  }));
  const [active] = versions.filter(({ state }) => state === "active");
  const used = time(status.lastUsedTime);
  if (active !== undefined && used !== null) active.lastUsedAt = Math.max(used, active.lastUsedAt ?? 0);
  const ready = findCondition(status.conditions, "Ready");
  const byHand = ready?.status === "False" && ready.reason === "Revoked";
  return {
    ...NO_KEY,
    id: status.keyID,
    namespace,
    name,
    ownerUid: metadata.uid ?? null,
    teamId: status.team ?? references.teamId ?? "",
    source: spec.source.type,
    state: status.revocation !== undefined ? "revoked" : declared.state === "Suspended" ? "suspended" : "active",
    policy: policyOf(declared, references),
    generation: status.observedGeneration ?? 1,
    createdAt: time(metadata.creationTimestamp) ?? 0,
    revocation: status.revocation === undefined ? null : { reason: byHand ? "ByHand" : "Declared", at: 0, seq: null },
    lastNumber: Math.max(0, ...versions.map(({ number }) => number)),
    versions,
  };
}

/** Reasons of `SecretDelivered` that mean: the Secret exists, but not as declared. */
const IS_THERE: ReadonlySet<string | undefined> = new Set<Reason>([
  "SecretTampered",
  "SecretImmutable",
  "SecretAltered",
]);

/** Returns the Secret as a step would observe it, from the object's conditions and the new declaration. */
export function secretByStatus(
  wanted: DeclaredKey,
  object: KeyObject | undefined,
  key: StoredKey | undefined,
): ObservedSecret {
  const { status, reason } = findCondition(object?.status?.conditions, "SecretDelivered") ?? {};
  const active = versionIn(key, "active");
  if (reason === "SecretConflict") return { state: "unmanaged" };
  if (reason === "SecretUnreadable") return { state: "unreadable", why: "it could not be when its status was written" };
  if (object?.spec === undefined || active === undefined || active.imported) return { state: "absent" };
  if (status === "False" && !IS_THERE.has(reason)) return { state: "absent" };
  const before = declareKey(object.metadata.namespace, object.metadata.name, object.spec);
  return {
    state: "ours",
    holds: reason === "SecretTampered" ? "unknown" : active.number,
    immutable: reason === "SecretImmutable",
    owned: before.secret.deleteWithKey,
    collected: isSecretCollected(before),
    deleting: false,
    rendered:
      before.secret.template === wanted.secret.template &&
      before.secret.deleteWithKey === wanted.secret.deleteWithKey &&
      isSecretCollected(before) === isSecretCollected(wanted),
  };
}

function time(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}
