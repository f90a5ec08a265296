import type { DeclaredKey } from "../declaration/declared-key.ts";
import { isHeal } from "../issuance/issuance-policy.ts";
import {
  isLiving,
  type KeyIdentity,
  type RevocationReason,
  type StoredKey,
  type StoredVersion,
} from "../stored/stored-key.ts";
import { versionEnd } from "../stored/version-end.ts";
import { MAX_RETIRING, retiringEndsAt, succeededBy } from "../stored/version-slots.ts";
import type { KeyAction } from "./key-action.ts";

/** Thrown if the store refuses the action, because the facts behind it have changed. Nothing is stored. */
export class ActionRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ActionRefusedError";
  }
}

/** Values that an action writes besides its own members. */
export type ActionContext = {
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
  /** Generation of the declaration that is applied. */
  readonly generation: number;
  readonly declared: Pick<DeclaredKey, "source" | "expiresAfter" | "rotationTrigger">;
  /** Identity of a key that is made. */
  readonly identity: KeyIdentity;
  /** Digest and prefix of a version that is reserved. */
  readonly secret: Pick<StoredVersion, "digest" | "prefix">;
  /** Time since which the Secret is lost or edited, in milliseconds since the epoch; null for now. */
  readonly undoneSince: number | null;
  /** Key that is taken over. */
  readonly taken?: StoredKey;
};

/**
 * Returns a key as stored after an action of its plan (architecture §2): what `store/keys` does in SQL, for callers
 * without a database. Voided versions stay in the list, and no version is left out for its age.
 *
 * @param key undefined if there is none yet
 * @throws ActionRefusedError if the store would throw
 */
export function applyAction(
  key: StoredKey | undefined,
  action: KeyAction,
  context: ActionContext,
): StoredKey | undefined {
  const { now } = context;
  if (action.do === "Reserve") {
    const heals = isHeal(action.why) ? { reason: action.why, at: context.undoneSince ?? now } : null;
    return reserve(key === undefined || action.newKey ? newKey(action, context) : key, action, context, {
      ...context.secret,
      imported: false,
      heals,
    });
  }
  if (action.do === "Import") {
    const { digest, prefix } = action;
    const version = { digest, prefix, imported: true, heals: null };
    const reserved = reserve(newKey(action, context), { number: 1, supersedes: null }, context, version);
    return activate(reserved, 1, now, now);
  }
  if (action.do === "TakeOver") return context.taken && takeOver(context.taken, context);
  if (key === undefined) return undefined;
  switch (action.do) {
    case "Publish":
      return markMayBeRead(key, action.number);
    case "Activate":
      return activate(key, action.number, action.retireOldAt, now);
    case "UpdatePolicy":
      return updatePolicy(key, action);
    case "Retire":
      return retireDue(key, now);
    case "RetireAdopted":
      return changeVersions(key, ({ number, state }) =>
        number === action.number && state === "retiring" ? { state: "retired", retireAt: now } : undefined,
      );
    case "Revoke":
      return revoke(key, action.reason, now);
    case "Release":
      return release(key);
    default:
      return key;
  }
}

/** Revokes a key. If this is repeated, the first reason and time stand. No replica has been notified yet. */
export function revoke(key: StoredKey, reason: RevocationReason, now: number): StoredKey {
  if (key.state === "revoked") return key;
  const ended = changeVersions(key, (version) => (isLiving(version) ? { state: "revoked" } : undefined));
  const policy = { ...key.policy, suspended: false };
  return { ...ended, state: "revoked", policy, revocation: { reason, at: now, seq: null } };
}

/** Requests a version that comes after all existing versions; of several requests the latest time stands. */
export function withRotationRequest(key: StoredKey, revokeOld: boolean, now: number): StoredKey {
  if (key.state === "revoked") return key;
  const { rotationRequest: before, versions } = key;
  const at = Math.max(now, before?.at ?? now, ...versions.map(({ mintedAt }) => mintedAt + 1));
  return { ...key, rotationRequest: { at, revokeOld: revokeOld || before?.revokeOld === true } };
}

function newKey({ policy }: Pick<KeyAction & { do: "Reserve" }, "policy">, context: ActionContext): StoredKey {
  return {
    ...context.identity,
    source: context.declared.source.type,
    state: policy.suspended ? "suspended" : "active",
    policy,
    generation: context.generation,
    createdAt: context.now,
    revocation: null,
    rotationRequest: null,
    lastNumber: 0,
    versions: [],
  };
}

function reserve(
  key: StoredKey,
  { number, supersedes }: Pick<KeyAction & { do: "Reserve" }, "number" | "supersedes">,
  { now, generation, declared: { expiresAfter, rotationTrigger } }: ActionContext,
  version: Pick<StoredVersion, "digest" | "prefix" | "imported" | "heals">,
): StoredKey {
  refuseWhere(key.state === "revoked", "the key is revoked");
  refuseWhere(generation < key.generation, "a later generation has been applied");
  const taken = key.versions.find((one) => one.number === number);
  if (taken !== undefined) {
    refuseWhere(taken.digest !== version.digest, `version ${number} belongs to another secret`);
    refuseWhere(!isLiving(taken), `version ${number} has ended`);
    return key;
  }
  // Not before the request that it fulfils: else the version would be requested again.
  const mintedAt = Math.max(now, key.rotationRequest?.at ?? now);
  const reserved: StoredVersion = {
    ...version,
    number,
    state: "reserved",
    mayBeRead: false,
    mintedAt,
    activatedAt: null,
    retireAt: null,
    expiresAt: expiresAfter === null ? null : mintedAt + expiresAfter,
    rotationTrigger,
    lastUsedAt: null,
    leakedAt: null,
  };
  const others = supersedes === null ? key : supersede(key, supersedes, now);
  const versions = [reserved, ...others.versions].toSorted((a, b) => b.number - a.number);
  return { ...key, lastNumber: Math.max(key.lastNumber, number), versions };
}

/** Begins the overlap of a reservation that makes way, or voids it if the overlap would already be over. */
function supersede(
  before: StoredKey,
  { number, endsAt }: NonNullable<(KeyAction & { do: "Reserve" })["supersedes"]>,
  now: number,
): StoredKey {
  const isSuperseded = (one: StoredVersion) => one.number === number && one.state === "reserved";
  if (endsAt <= now) return changeVersions(before, (one) => (isSuperseded(one) ? { state: "voided" } : undefined));
  const key = retireDue(before, now);
  refuseWhere(key.versions.some(isSuperseded) && !hasSlotsFor(1, key), "there is no room for another old version");
  return changeVersions(key, (one) => (isSuperseded(one) ? { state: "retiring", retireAt: endsAt } : undefined));
}

function hasSlotsFor(more: number, { versions }: StoredKey): boolean {
  return versions.filter(({ state }) => state === "retiring").length + more <= MAX_RETIRING;
}

/** Notes that a reserved version may be read, right before its Secret is written. */
function markMayBeRead(key: StoredKey, number: number): StoredKey {
  const isReserved = (one: StoredVersion) => one.number === number && one.state === "reserved";
  refuseWhere(!key.versions.some(isReserved), `version ${number} is not a reserved one`);
  return changeVersions(key, (one) => (isReserved(one) ? { mayBeRead: true } : undefined));
}

/** Takes a key over as {@link decideTakeOver} decided. The declaration's trigger asks for no new version by itself. */
function takeOver(key: StoredKey, { identity, generation, declared }: ActionContext): StoredKey {
  const { cluster, namespace, name, ownerUid } = identity;
  const { rotationTrigger } = declared;
  const taken = changeVersions(key, () => ({ imported: true, rotationTrigger }));
  return { ...taken, cluster, namespace, name, ownerUid, generation, source: declared.source.type };
}

/** Activates a reserved version. Without an overlap the versions that it succeeds, and all earlier, end at once. */
function activate(before: StoredKey, number: number, retireOldAt: number, now: number): StoredKey {
  refuseWhere(before.state === "revoked", "the key is revoked");
  const key = retireDue(before, now);
  const own = key.versions.find((version) => version.number === number);
  if (own?.state === "active") return key;
  if (own?.state !== "reserved") throw new ActionRefusedError(`version ${number} is not a reserved one`);
  const overlaps = retireOldAt > now;
  const succeeded = succeededBy(number, key.versions);
  refuseWhere(overlaps && !hasSlotsFor(succeeded.length, key), "there is no room for another old version");
  const activated = changeVersions(key, (version) => {
    if (version === own) return { state: "active", activatedAt: now };
    if (version.state === "reserved" && !version.mayBeRead) return { state: "voided" };
    if (succeeded.includes(version) && overlaps) return { state: "retiring", retireAt: retireOldAt };
    return isLiving(version) && !overlaps ? { state: "retired", retireAt: null } : undefined;
  });
  const isFulfilled = key.rotationRequest !== null && key.rotationRequest.at <= own.mintedAt;
  return isFulfilled ? { ...activated, rotationRequest: null } : activated;
}

function updatePolicy(
  key: StoredKey,
  { generation, policy, expiresAfter, keptEnds }: KeyAction & { do: "UpdatePolicy" },
): StoredKey {
  if (key.state === "revoked") return key;
  refuseWhere(generation < key.generation, "a later generation has been applied");
  const changed = changeVersions(key, (version) =>
    isLiving(version) ? { expiresAt: versionEnd(version, expiresAfter, keptEnds) } : undefined,
  );
  return { ...changed, policy, generation, state: policy.suspended ? "suspended" : "active" };
}

function retireDue(key: StoredKey, now: number): StoredKey {
  return changeVersions(key, (version) => {
    const endsAt = retiringEndsAt(version);
    return version.state === "retiring" && endsAt <= now ? { state: "retired", retireAt: endsAt } : undefined;
  });
}

/** Releases a key: a reserved version whose Secret was never written is voided; others work on as the key does. */
function release(key: StoredKey): StoredKey {
  if (key.state === "revoked" || key.ownerUid === null) return key;
  const left = changeVersions(key, ({ state, mayBeRead }) =>
    state === "reserved" && !mayBeRead ? { state: "voided" } : undefined,
  );
  return { ...left, ownerUid: null };
}

/** Returns the key with the changes that `changeOf` returns for its versions. */
function changeVersions(
  key: StoredKey,
  changeOf: (version: StoredVersion) => Partial<StoredVersion> | undefined,
): StoredKey {
  return { ...key, versions: key.versions.map((version) => ({ ...version, ...changeOf(version) })) };
}

function refuseWhere(isSo: boolean, why: string): void {
  if (isSo) throw new ActionRefusedError(why);
}
