import type { KeyState, VersionState } from "../../access/key-record.ts";
import type { KeyPolicy } from "../declaration/key-policy.ts";

/** Reason for a key's revocation. Only after `Moved` (the namespace changed teams) may a declaration mint again. */
export type RevocationReason = "Declared" | "Deleted" | "ByHand" | "Moved" | "Orphaned" | "Leaked";

/** Fault of a delivered Secret: it, or the data key in it, is gone; or it holds something else. */
export type HealReason = "SecretLost" | "SecretTampered";

/** Origin of a key's secret. `Placeholder` is a development key that the server was started with. */
export type KeySource = "Generate" | "ImportSecret" | "ImportHash" | "Placeholder";

/** A version of a key as the store holds it: a digest, never the secret. */
export type StoredVersion = {
  readonly number: number;
  /** SHA-256 of the full key as a latin1 string of 32 characters. */
  readonly digest: string;
  readonly prefix: string;
  /** True if its secret came from elsewhere or was shown to a person: no Secret of ours holds it, so none is healed. */
  readonly imported: boolean;
  readonly state: VersionState;
  /** True for a reserved version whose Secret may have been written, so that a workload may use it. */
  readonly mayBeRead: boolean;
  readonly mintedAt: number;
  readonly activatedAt: number | null;
  /** Time at which a retiring version stops working, or at which a retired one's overlap ended; null for no overlap. */
  readonly retireAt: number | null;
  /** Time at which the version itself expires, from `expiresAfter`; null for never. */
  readonly expiresAt: number | null;
  /** Value of the declaration's `rotation.trigger` when the version was minted. */
  readonly rotationTrigger: string | null;
  /** Fault of the Secret because of which the version was minted, and when it was noticed; null if there was none. */
  readonly heals: { readonly reason: HealReason; readonly at: number } | null;
  readonly lastUsedAt: number | null;
  /** Time at which its secret was first reported as leaked; null for never. */
  readonly leakedAt: number | null;
};

/** Identity and owner of a key. */
export type KeyIdentity = {
  readonly id: string;
  readonly cluster: string;
  /** Namespace that declares the key; empty if none does. */
  readonly namespace: string;
  readonly name: string;
  /** Uid of the declaring object; null once the declaration has released the key. */
  readonly ownerUid: string | null;
  readonly teamId: string;
};

/** A key as the store holds it, with its living versions and the last few that ended, newest first. */
export type StoredKey = KeyIdentity & {
  readonly source: KeySource;
  readonly state: KeyState;
  readonly policy: KeyPolicy;
  /** The declaration's generation that was last applied. */
  readonly generation: number;
  /** Creation time by the database's clock, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly revocation: { readonly reason: RevocationReason; readonly at: number; readonly seq: number | null } | null;
  /** Rotation requested by hand; null if none is pending. */
  readonly rotationRequest: { readonly at: number; readonly revokeOld: boolean } | null;
  /** Highest version number ever reserved, including versions that left no trace in `versions`. */
  readonly lastNumber: number;
  readonly versions: readonly StoredVersion[];
};

/** Limits of a key's policy that policies of its team bound, besides its expiry. */
export type KeyNumbers = Pick<KeyPolicy, "rateLimit" | "concurrent" | "tokenLimit" | "budgets">;

/** Returns the limits of a policy, without its other members. */
export function numbersOf({ rateLimit, concurrent, tokenLimit, budgets }: KeyNumbers): KeyNumbers {
  return { rateLimit, concurrent, tokenLimit, budgets };
}

/** True if a version has not ended. */
export function isLiving({ state }: StoredVersion): boolean {
  return state === "reserved" || state === "active" || state === "retiring";
}

/** Returns the newest version in a state; at most one version is active. */
export function versionIn(key: StoredKey | undefined, state: VersionState): StoredVersion | undefined {
  return key?.versions.find((version) => version.state === state);
}
