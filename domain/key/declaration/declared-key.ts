import type { Spec } from "../../kinds/kinds.ts";
import type { KeyPolicy, PlainFieldName } from "./key-policy.ts";

/** A reference to an object of one of our kinds; the namespace is filled in. */
export type NamedRef = { readonly namespace: string; readonly name: string };

/** How long an old version goes on beside its successor. Milliseconds. */
export type Overlap =
  | { readonly mode: "Fixed"; readonly duration: number }
  | { readonly mode: "Adoption"; readonly min: number; readonly max: number; readonly quiet: number };

/** How a key is rotated by itself: how often, in milliseconds, null for never. */
export type AppliedRotation = { readonly interval: number | null; readonly overlap: Overlap };

/** The overlap where a declaration says nothing (spec §5). */
export const DEFAULT_OVERLAP: Overlap = { mode: "Fixed", duration: 24 * 3_600_000 };
/** How long an old version must have gone unused before it counts as abandoned, by default. Milliseconds. */
export const DEFAULT_QUIET = 10 * 60_000;

/** A PlatformKey's spec with every default filled in and every text parsed. Durations and times are milliseconds. */
export type DeclaredKey = Pick<KeyPolicy, PlainFieldName> & {
  readonly state: "Active" | "Suspended" | "Revoked";
  readonly source: Spec<"PlatformKey">["source"];
  readonly gatewayRef: NamedRef | null;
  /** Null: all of the team's. */
  readonly libraryRefs: readonly NamedRef[] | null;
  readonly mcpDefaultLibraryRef: NamedRef | null;
  /** Counts from the mint of each version. */
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

/** The longest that an old version may go on beside its successor, in milliseconds. */
export function overlapLimit(overlap: Overlap): number {
  return overlap.mode === "Fixed" ? overlap.duration : overlap.max;
}
