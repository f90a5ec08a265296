import type { KeyState, VersionState } from "../../access/key-record.ts";
import type { KeyPolicy } from "../declaration/key-policy.ts";

/** Why a key was revoked. Only `Moved`, its namespace having gone to another team, lets a declaration mint again. */
export type RevocationReason = "Declared" | "Deleted" | "ByHand" | "Moved" | "Orphaned" | "Leaked";

/** What became of a Secret that was delivered: it, or the data key in it, is gone; it holds something else. */
export type HealReason = "SecretLost" | "SecretTampered";

/** How the secret of a key came to be. `Placeholder` is a development key that the server was started with. */
export type KeySource = "Generate" | "ImportSecret" | "ImportHash" | "Placeholder";

/** One version of a key as the store holds it: a digest, never the secret. */
export type StoredVersion = {
  readonly number: number;
  /** SHA-256 of the full key as a latin1 string of 32 characters. */
  readonly digest: string;
  readonly prefix: string;
  /** Its secret came from elsewhere, or was shown to a person: no Secret of ours holds it, nor is one ours to heal. */
  readonly imported: boolean;
  readonly state: VersionState;
  /** Of a reserved version: its Secret may have been written, so that a workload may use it. */
  readonly mayBeRead: boolean;
  readonly mintedAt: number;
  readonly activatedAt: number | null;
  /** Of a retiring version: when it stops working. Of a retired one: when its overlap ended; null where it had none. */
  readonly retireAt: number | null;
  /** The version's own end, from `expiresAfter`. */
  readonly expiresAt: number | null;
  /** The declaration's `rotation.trigger` when it was minted. */
  readonly rotationTrigger: string | null;
  /** Of one that was minted since the Secret was lost or edited: which of both, and when that was noticed. */
  readonly heals: { readonly reason: HealReason; readonly at: number } | null;
  readonly lastUsedAt: number | null;
  /** When its secret was first reported as leaked; null for never. */
  readonly leakedAt: number | null;
};

/** Which key it is, and whose. */
export type KeyIdentity = {
  readonly id: string;
  readonly cluster: string;
  /** Empty for a key that no namespace declares. */
  readonly namespace: string;
  readonly name: string;
  /** Null once the declaration has released it. */
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
  readonly revocation: { readonly reason: RevocationReason; readonly at: number; readonly seq: number | null } | null;
  /** A rotation that was requested by hand. */
  readonly rotationRequest: { readonly at: number; readonly revokeOld: boolean } | null;
  /** The highest version number ever reserved, those that left no trace in `versions` included. */
  readonly lastNumber: number;
  readonly versions: readonly StoredVersion[];
};

/** What of a key's policy is bounded by policies of its team, besides its end. */
export type KeyNumbers = Pick<KeyPolicy, "rateLimit" | "concurrent" | "tokenLimit" | "budgets">;

/** Those numbers alone. */
export function numbersOf({ rateLimit, concurrent, tokenLimit, budgets }: KeyNumbers): KeyNumbers {
  return { rateLimit, concurrent, tokenLimit, budgets };
}

/** Whether a version has not ended. */
export function isLiving({ state }: StoredVersion): boolean {
  return state === "reserved" || state === "active" || state === "retiring";
}

/** The newest version in a state; there is at most one active. */
export function versionIn(key: StoredKey | undefined, state: VersionState): StoredVersion | undefined {
  return key?.versions.find((version) => version.state === state);
}
