import { declareRate, declareTokens } from "../../access/declared-limits.ts";
import type { SubjectRule } from "../../access/subject.ts";
import { declareBudgets } from "../../budget/budget.ts";
import { parseDuration } from "../../duration.ts";
import type { Spec } from "../../kinds/kinds.ts";
import {
  type AppliedRotation,
  DEFAULT_OVERLAP,
  DEFAULT_QUIET,
  type DeclaredKey,
  type NamedRef,
  type Overlap,
} from "./declared-key.ts";
import { effectiveScopes, secretTarget } from "./effective.ts";

/** Reads a valid spec. `namespace` and `name` are the object's own. */
export function declareKey(namespace: string, name: string, spec: Spec<"PlatformKey">): DeclaredKey {
  const within = (ref: { name: string; namespace?: string | undefined }): NamedRef => ({
    namespace: ref.namespace ?? namespace,
    name: ref.name,
  });
  const { interval, overlap } = declareRotation(spec.rotation);
  return {
    displayName: spec.displayName ?? name,
    scopes: effectiveScopes(spec),
    state: spec.state ?? "Active",
    source: spec.source,
    gatewayRef: spec.gatewayRef ? within(spec.gatewayRef) : null,
    allowedModels: spec.allowedModels ?? null,
    libraryRefs: spec.libraryAccess?.mode === "Restricted" ? (spec.libraryAccess.libraryRefs ?? []).map(within) : null,
    mcpDefaultLibraryRef: spec.mcpDefaultLibraryRef ? within(spec.mcpDefaultLibraryRef) : null,
    expiresAfter: spec.expiresAfter === undefined ? null : parseDuration(spec.expiresAfter),
    expiresAt: spec.expiresAt === undefined ? null : withinYears(Date.parse(spec.expiresAt)),
    rotationInterval: interval,
    rotationTrigger: spec.rotation?.trigger ?? null,
    overlap,
    rateLimit: declareRate(spec.rateLimit),
    concurrent: spec.rateLimit?.concurrent ?? null,
    tokenLimit: declareTokens(spec.rateLimit),
    budgets: declareBudgets(spec.budgets),
    subject: declareSubject(spec.subjectAccess),
    allowedCIDRs: spec.allowedCIDRs ?? null,
    secret: {
      ...secretTarget(name, spec),
      deleteWithKey: spec.secret?.creationPolicy !== "Orphan",
      healLost: spec.secret?.onLost !== "Report",
      healTampered: spec.secret?.onTampered !== "Report",
      template: spec.secret?.template ?? null,
    },
    restartTargets: spec.restartTargets ?? [],
    retainOnDelete: spec.deletionPolicy === "Retain",
    deletionProtection: spec.deletionProtection ?? false,
  };
}

/** The times that every engine keeps, in milliseconds since the epoch: the years 1 to 9999. */
const [FIRST_TIME, LAST_TIME] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59Z")];

/** An end out of reach, which was declared before admission refused it, as the nearest that is not. */
function withinYears(time: number): number {
  return Math.min(Math.max(time, FIRST_TIME), LAST_TIME);
}

/** How a key is rotated by itself. */
export function declareRotation(rotation: Spec<"PlatformKey">["rotation"]): AppliedRotation {
  const interval = rotation?.interval === undefined ? null : parseDuration(rotation.interval);
  return { interval, overlap: declareOverlap(rotation?.overlap) };
}

/** The overlap, its defaults filled in. */
export function declareOverlap(overlap: NonNullable<Spec<"PlatformKey">["rotation"]>["overlap"]): Overlap {
  if (overlap === undefined) return DEFAULT_OVERLAP;
  if (overlap.mode === "Adoption") {
    return {
      mode: "Adoption",
      min: parseDuration(overlap.min ?? "0s"),
      max: parseDuration(overlap.max ?? "24h"),
      quiet: overlap.quiet === undefined ? DEFAULT_QUIET : parseDuration(overlap.quiet),
    };
  }
  return overlap.duration === undefined
    ? DEFAULT_OVERLAP
    : { mode: "Fixed", duration: parseDuration(overlap.duration) };
}

function declareSubject(access: Spec<"PlatformKey">["subjectAccess"]): SubjectRule | null {
  if (access === undefined) return null;
  return access.mode === "Required" ? { mode: "Required" } : { mode: "Bound", subject: access.subject ?? "" };
}
