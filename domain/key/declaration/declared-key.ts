import type { Spec } from "../../kinds/kinds.ts";
import type { KeyPolicy, PlainFieldName } from "./key-policy.ts";

/** A reference to an object of one of our kinds; the namespace is filled in. */
export type NamedRef = { readonly namespace: string; readonly name: string };

/** Time for which an old version goes on beside its successor. Milliseconds. */
export type Overlap =
  | { readonly mode: "Fixed"; readonly duration: number }
  | { readonly mode: "Adoption"; readonly min: number; readonly max: number; readonly quiet: number };

/** Automatic rotation of a key: its interval in milliseconds (null for never), and the overlap. */
export type AppliedRotation = { readonly interval: number | null; readonly overlap: Overlap };

/** Declared parts of a key that its policy does not have, as they were last applied. */
export type AppliedParts = AppliedRotation & Pick<DeclaredKey, "secret" | "restartTargets">;

/** Overlap if a declaration does not set one (spec §5). */
export const DEFAULT_OVERLAP: Overlap = { mode: "Fixed", duration: 24 * 3_600_000 };
/** Default time for which an old version must be unused before it counts as abandoned. Milliseconds. */
export const DEFAULT_QUIET = 10 * 60_000;

/** A PlatformKey's spec with every default filled in and every text parsed. Durations and times are milliseconds. */
export type DeclaredKey = Pick<KeyPolicy, PlainFieldName> & {
  readonly state: "Active" | "Suspended" | "Revoked";
  readonly source: Spec<"PlatformKey">["source"];
  readonly gatewayRef: NamedRef | null;
  /** Libraries that the key may reach. Null: all libraries of the team. */
  readonly libraryRefs: readonly NamedRef[] | null;
  readonly mcpDefaultLibraryRef: NamedRef | null;
  /** Milliseconds from the mint of each version to its expiry; null for none. */
  readonly expiresAfter: number | null;
  readonly rotationInterval: number | null;
  readonly rotationTrigger: string | null;
  readonly overlap: Overlap;
  readonly secret: {
    readonly name: string;
    readonly dataKey: string;
    readonly deleteWithKey: boolean;
    readonly healLost: boolean;
    readonly healTampered: boolean;
    readonly template: "Env" | "McpConfig" | "ServiceBinding" | null;
  };
  readonly restartTargets: readonly { readonly kind: string; readonly name: string }[];
  readonly retainOnDelete: boolean;
  readonly deletionProtection: boolean;
};

/**
 * True if Kubernetes is to delete the key's Secret with its declaration. The Secret of a key that is to outlive its
 * declaration, or the deletion of it, is not: a foreground deletion removes what belongs to an object first, and no
 * finalizer of the object holds it.
 */
export function isSecretCollected({ secret, retainOnDelete, deletionProtection }: DeclaredKey): boolean {
  return secret.deleteWithKey && !retainOnDelete && !deletionProtection;
}

/** Returns the longest time for which an old version may go on beside its successor, in milliseconds. */
export function overlapLimit(overlap: Overlap): number {
  return overlap.mode === "Fixed" ? overlap.duration : overlap.max;
}
