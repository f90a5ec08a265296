import type { DeclaredKey } from "../declaration/declared-key.ts";
import type { ResolvedReferences } from "../declaration/resolved-references.ts";
import type { PolicyVerdict } from "../policies/hold-to-policies.ts";
import type { KnownUsage, LastUse } from "../stored/known-usage.ts";
import type { StoredKey, StoredVersion } from "../stored/stored-key.ts";

/** State of the key's Secret, as far as a plan may know it: which version it holds, never the secret itself. */
export type ObservedSecret =
  | { readonly state: "absent" }
  /** A Secret of that name exists, and is not ours. */
  | { readonly state: "unmanaged" }
  /** The Secret cannot be read, such as for lack of a right. */
  | { readonly state: "unreadable"; readonly why: string }
  | {
      readonly state: "ours";
      /** Version whose digest its value has; `nothing` without a value, `unknown` for a value that we never minted. */
      readonly holds: number | "nothing" | "unknown";
      readonly immutable: boolean;
      /** True if everything in it but the value is as declared. */
      readonly rendered: boolean;
      /** True if it names our declaration as its owner, by an owner reference or an annotation. */
      readonly owned: boolean;
      /** True if it carries our owner reference, so that Kubernetes deletes it with the declaration. */
      readonly collected: boolean;
      /** True if it was deleted, and stays only for as long as another's finalizer holds it. */
      readonly deleting: boolean;
    };

/** Field of a Secret, named as Kubernetes does: `data[api-key]`. `data` alone stands for keys that are not declared. */
export type SecretField = "data" | `data[${string}]` | `metadata.${string}`;

/** A change that something else made to a Secret after it was written. */
export type AlteredSecret = {
  /** Number of the version that was written. */
  readonly version: number;
  readonly fields: readonly SecretField[];
  /** True if the answer to the write showed the change; false if the write put right an earlier change. */
  readonly isShownInAnswer: boolean;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly writtenAt: number;
};

/** A secret that a declaration asks to import, or why it cannot be imported. */
export type Importable =
  | { readonly digest: string; readonly prefix: string }
  | { readonly problem: string }
  /** Id of an existing key that the declaration takes over instead. */
  | { readonly takesOver: string }
  /** Reason for which it does not take over the key that it names. */
  | { readonly takeOverRefused: string };

/** Everything that decides what to do next with one declared key. */
export type ObservedKey = {
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly hasFinalizer: boolean;
  /** Declaration of the key, with the defaults of its team's policies, and bounded by them. */
  readonly declared: DeclaredKey;
  /** Verdict of these policies on the key. */
  readonly verdict: PolicyVerdict;
  readonly references: ResolvedReferences;
  /** Newest row that this declaration owns, including revoked rows. */
  readonly stored: StoredKey | undefined;
  readonly secret: ObservedSecret;
  /** Latest change to what was written; null if nothing changed it, or something else is declared by now. */
  readonly altered: AlteredSecret | null;
  /** True if the namespace is being deleted. Asked only if the Secret is missing or unreadable; false otherwise. */
  readonly namespaceTerminates: boolean;
  /** Time since which this process finds the Secret lost or edited; null while it is neither. */
  readonly undoneSince: number | null;
  /** Marks that other tools had left on the Secret when it was last as declared. For people: no decision uses them. */
  readonly secretMarks: readonly string[];
  /**
   * Secret to import or key to take over, read only while there is no key: null for a key that is minted. A digest is
   * recorded once, and never again from the same declaration (I3).
   */
  readonly importable: Importable | null;
  /** Version whose plaintext this process holds, reserved and not yet known to be in its Secret. */
  readonly held: number | null;
  /** True if this process's last change to the key, including a reservation, is confirmed for every replica. */
  readonly confirmed: boolean;
  /** Version that the restart targets were last restarted for, or that was delivered while there were none. */
  readonly restartedVersion: number | null;
  /** Uses of the key's versions, read only if something depends on them (`dependsOnUsage`); null otherwise. */
  readonly usage: KnownUsage | null;
  /** Use of an old version that the status reports, as it was when the status was written. */
  readonly reportedUse: LastUse | null;
  /**
   * Time from which changes that time alone brings about may be final, in milliseconds since the epoch. It is later
   * than
   * now if the clock has jumped lately and may be set right again.
   */
  readonly steadyFrom: number;
};

/** Declaration and stored state of a key: all that decides whether it is to end (`planEnd`). */
export type ObservedDeclaration = Pick<
  ObservedKey,
  "generation" | "deleting" | "hasFinalizer" | "declared" | "verdict" | "references" | "stored"
>;

/** Returns the key that this declaration governs now: a row revoked because its namespace moved is history. */
export function governedKey({ stored }: ObservedDeclaration): StoredKey | undefined {
  return stored?.revocation?.reason === "Moved" ? undefined : stored;
}

/** Returns the version that the key's Secret holds. */
export function deliveredVersion({ secret }: ObservedKey, key: StoredKey | undefined): StoredVersion | undefined {
  const holds = secret.state === "ours" ? secret.holds : undefined;
  return key?.versions.find(({ number }) => number === holds);
}

/**
 * True if a later generation of the declaration was applied than this one: the view of the cluster is stale, or the
 * cluster was put back in time. Such a generation undoes nothing.
 */
export function isOutdated({ generation }: ObservedDeclaration, key: StoredKey | undefined): boolean {
  return key !== undefined && generation < key.generation;
}
