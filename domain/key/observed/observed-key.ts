import type { DeclaredKey } from "../declaration/declared-key.ts";
import type { ResolvedReferences } from "../declaration/resolved-references.ts";
import type { PolicyVerdict } from "../policies/hold-to-policies.ts";
import type { KnownUsage, LastUse } from "../stored/known-usage.ts";
import type { StoredKey, StoredVersion } from "../stored/stored-key.ts";

/** The key's Secret, as far as a plan may know it: which version it holds, never what. */
export type ObservedSecret =
  | { readonly state: "absent" }
  /** There is one by that name, and it is not ours. */
  | { readonly state: "unmanaged" }
  /** We may not read it. */
  | { readonly state: "unreadable"; readonly why: string }
  | {
      readonly state: "ours";
      /** The version whose digest its value has; `nothing` without a value, `unknown` for a value we never minted. */
      readonly holds: number | "nothing" | "unknown";
      readonly immutable: boolean;
      /** Everything in it but the value is as declared. */
      readonly rendered: boolean;
      /** It carries our owner reference, and goes when the declaration does. */
      readonly owned: boolean;
      /** It was deleted, and stays for as long as another's finalizer holds it. */
      readonly deleting: boolean;
    };

/** A field of a Secret, named as Kubernetes does: `data[api-key]`. `data` alone stands for keys that are not declared. */
export type SecretField = "data" | `data[${string}]` | `metadata.${string}`;

/** What something else changed of a Secret that was written. */
export type AlteredSecret = {
  /** The version that was written. */
  readonly version: number;
  readonly fields: readonly SecretField[];
  /** Whether the answer to the write showed it; false where the write put right what was changed before it. */
  readonly isAnswered: boolean;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly writtenAt: number;
};

/** The secret that a declaration asks to import, or why it cannot be. */
export type Importable =
  | { readonly digest: string; readonly prefix: string }
  | { readonly problem: string }
  /** The key that there is already, and that the declaration takes over instead. */
  | { readonly takesOver: string }
  /** Why it does not take over the key that it names. */
  | { readonly takeOverRefused: string };

/** All that matters for what to do next with one declared key. */
export type ObservedKey = {
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly hasFinalizer: boolean;
  /** As its team's policies have it: with their defaults, and bounded by them. */
  readonly declared: DeclaredKey;
  /** What these policies say of it. */
  readonly verdict: PolicyVerdict;
  readonly references: ResolvedReferences;
  /** The newest row that this declaration owns, revoked ones included. */
  readonly stored: StoredKey | undefined;
  readonly secret: ObservedSecret;
  /** Null where nothing changed what was written, or something else is declared of it by now. */
  readonly altered: AlteredSecret | null;
  /** The namespace is being deleted. Asked only where the Secret is not there or closed to us; false elsewhere. */
  readonly namespaceTerminates: boolean;
  /** Since when this process finds the Secret lost or edited; null while it is neither. */
  readonly undoneSince: number | null;
  /** Who else had left marks on the Secret when it was last as declared. For people: nothing is decided by it. */
  readonly secretMarks: readonly string[];
  /**
   * What an import would learn, read only while there is no key: null for a key that is minted. It is learned once,
   * and never again from the same declaration (I3).
   */
  readonly importable: Importable | null;
  /** The version whose plaintext this process holds, reserved and not yet known to be in its Secret. */
  readonly held: number | null;
  /** Whether this process's last change to the key, a reservation included, is confirmed for every replica. */
  readonly confirmed: boolean;
  /** The version that the restart targets were last restarted for. */
  readonly restartedVersion: number | null;
  /** Read only where something depends on it (`dependsOnUsage`); null elsewhere. */
  readonly usage: KnownUsage | null;
  /** The use of an old version that the status reports, as it was when the status was written. */
  readonly reportedUse: LastUse | null;
  /**
   * From when on what time alone brings about may be final, in milliseconds since the epoch: later than now where the
   * clock has jumped lately, and may be set right again.
   */
  readonly steadyFrom: number;
};

/** What the declaration and the store say of a key: all that decides whether it is to end (`planEnd`). */
export type ObservedDeclaration = Pick<
  ObservedKey,
  "generation" | "deleting" | "hasFinalizer" | "declared" | "verdict" | "references" | "stored"
>;

/** The key that this declaration governs now: a row that was revoked because its namespace moved is history. */
export function governedKey({ stored }: ObservedDeclaration): StoredKey | undefined {
  return stored?.revocation?.reason === "Moved" ? undefined : stored;
}

/** The version that the key's Secret holds. */
export function deliveredVersion({ secret }: ObservedKey, key: StoredKey | undefined): StoredVersion | undefined {
  const holds = secret.state === "ours" ? secret.holds : undefined;
  return key?.versions.find(({ number }) => number === holds);
}

/**
 * Whether a later generation of the declaration was applied than this one: a stale view of the cluster, or a cluster
 * that was put back in time. Nothing is undone by it.
 */
export function isOutdated({ generation }: ObservedDeclaration, key: StoredKey | undefined): boolean {
  return key !== undefined && generation < key.generation;
}
