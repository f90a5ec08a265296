import type { DeclaredRate, TokenLimit } from "../../access/rate-limit.ts";
import type { Scope } from "../../access/scopes.ts";
import type { SubjectRule } from "../../access/subject.ts";
import type { Budget } from "../../budget/budget.ts";
import type { Spec } from "../../kinds/kinds.ts";

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
export type DeclaredKey = {
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  readonly state: "Active" | "Suspended" | "Revoked";
  readonly source: Spec<"PlatformKey">["source"];
  readonly gatewayRef: NamedRef | null;
  readonly allowedModels: readonly string[] | null;
  /** Null: all of the team's. */
  readonly libraryRefs: readonly NamedRef[] | null;
  readonly mcpDefaultLibraryRef: NamedRef | null;
  /** Counts from the mint of each version. */
  readonly expiresAfter: number | null;
  /** Ends the whole key; the end of one version follows from `expiresAfter`. */
  readonly expiresAt: number | null;
  readonly rotationInterval: number | null;
  readonly rotationTrigger: string | null;
  readonly overlap: Overlap;
  readonly rateLimit: DeclaredRate | null;
  /** Calls that may be under way at once; null for the usual bound. */
  readonly concurrent: number | null;
  /** Of the tokens that its calls of models use. */
  readonly tokenLimit: TokenLimit | null;
  /** What its calls of models may use by period; null for no bound. */
  readonly budgets: readonly Budget[] | null;
  /** Whose memory it is for; null for what is shared. */
  readonly subject: SubjectRule | null;
  /** The networks that it may be used from; null for anywhere. */
  readonly allowedCIDRs: readonly string[] | null;
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
