import { parseDuration } from "../../duration.ts";
import type { Spec } from "../../kinds/kinds.ts";
import {
  type AppliedRotation,
  DEFAULT_OVERLAP,
  DEFAULT_QUIET,
  type DeclaredKey,
  type NamedRef,
  type Overlap,
} from "../declaration/declared-key.ts";
import { secretTarget } from "../declaration/effective.ts";
import { declareFields } from "./key-policies.ts";

/** Parses a valid spec. `namespace` and `name` are the object's own. */
export function declareKey(namespace: string, name: string, spec: Spec<"PlatformKey">): DeclaredKey {
  const within = (ref: { name: string; namespace?: string | undefined }): NamedRef => ({
    namespace: ref.namespace ?? namespace,
    name: ref.name,
  });
  const { interval, overlap } = declareRotation(spec.rotation);
  return {
    ...declareFields(spec, name),
    state: spec.state ?? "Active",
    source: spec.source,
    gatewayRef: spec.gatewayRef ? within(spec.gatewayRef) : null,
    libraryRefs: spec.libraryAccess?.mode === "Restricted" ? (spec.libraryAccess.libraryRefs ?? []).map(within) : null,
    mcpDefaultLibraryRef: spec.mcpDefaultLibraryRef ? within(spec.mcpDefaultLibraryRef) : null,
    expiresAfter: spec.expiresAfter === undefined ? null : parseDuration(spec.expiresAfter),
    rotationInterval: interval,
    rotationTrigger: spec.rotation?.trigger ?? null,
    overlap,
    ...declareDelivery(name, spec),
    retainOnDelete: spec.deletionPolicy === "Retain",
    deletionProtection: spec.deletionProtection ?? false,
  };
}

/** Parses how a key of this name is delivered. */
export function declareDelivery(
  name: string,
  spec: Pick<Spec<"PlatformKey">, "secret" | "restartTargets">,
): Pick<DeclaredKey, "secret" | "restartTargets"> {
  return {
    secret: {
      ...secretTarget(name, spec),
      deleteWithKey: spec.secret?.creationPolicy !== "Orphan",
      healLost: spec.secret?.onLost !== "Report",
      healTampered: spec.secret?.onTampered !== "Report",
      template: spec.secret?.template ?? null,
    },
    restartTargets: spec.restartTargets ?? [],
  };
}

/** Parses the automatic rotation of a key. */
export function declareRotation(rotation: Spec<"PlatformKey">["rotation"]): AppliedRotation {
  const interval = rotation?.interval === undefined ? null : parseDuration(rotation.interval);
  return { interval, overlap: declareOverlap(rotation?.overlap) };
}

/** Parses the overlap, with its defaults filled in. */
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
