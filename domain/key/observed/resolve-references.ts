import type { DeclaredKey, NamedRef } from "../declaration/declared-key.ts";
import type { ResolvedReferences } from "../declaration/resolved-references.ts";

/** Target of a reference within a team. Without a namespace it is ambiguous if the team has several of the name. */
export type ResolvedReference = { readonly id: string; readonly publicId?: string } | "absent" | "ambiguous";

type ReferencedKind = "ModelGateway" | "MemoryLibrary";

/** Scope in which references are looked up. */
export type ReferenceScope = {
  /** The team that holds the key's namespace; null while none does. */
  readonly teamId: string | null;
  /** The team that the key belongs to already; null for a new one. */
  readonly ownTeamId: string | null;
  /** Finds what this team has in service by this name. */
  readonly find: (kind: ReferencedKind, ref: NamedRef, teamId: string) => ResolvedReference;
};

export type UnresolvedReference = {
  /** Path in the key's manifest, such as `spec.gatewayRef`. */
  readonly path: string;
  readonly kind: ReferencedKind;
  readonly ref: NamedRef;
  readonly why: "absent" | "ambiguous";
};

/** Returns all libraries that a key names, in the order in which {@link resolveReferences} looks them up. */
export function referencedLibraries({ libraryRefs, mcpDefaultLibraryRef }: DeclaredKey): NamedRef[] {
  return [...(libraryRefs ?? []), ...(mcpDefaultLibraryRef === null ? [] : [mcpDefaultLibraryRef])];
}

/**
 * Resolves a key's references within the team of its namespace, or while no team holds that, within the team that the
 * key belongs to. A target that cannot be found grants nothing, and nothing else replaces it. A key of no team has no
 * missing reference: what is missing is its team.
 */
export function resolveReferences(
  { gatewayRef, libraryRefs, mcpDefaultLibraryRef }: DeclaredKey,
  { teamId, ownTeamId, find }: ReferenceScope,
): { readonly references: ResolvedReferences; readonly unresolved: readonly UnresolvedReference[] } {
  const within = teamId ?? ownTeamId;
  const unresolved: UnresolvedReference[] = [];
  const resolve = (path: string, kind: ReferencedKind, ref: NamedRef) => {
    if (within === null) return undefined;
    const found = find(kind, ref, within);
    if (typeof found === "object") return found;
    unresolved.push({ path, kind, ref, why: found });
    return undefined;
  };
  const gateway = gatewayRef === null ? undefined : resolve("spec.gatewayRef", "ModelGateway", gatewayRef);
  const libraryIds = libraryRefs?.flatMap(
    (ref, i) => resolve(`spec.libraryAccess.libraryRefs[${i}]`, "MemoryLibrary", ref)?.id ?? [],
  );
  const defaultLibrary =
    mcpDefaultLibraryRef && resolve("spec.mcpDefaultLibraryRef", "MemoryLibrary", mcpDefaultLibraryRef);
  const missing = unresolved.map(({ kind, ref }) => `${kind} ${ref.namespace}/${ref.name} is not in this team.`);
  const references = {
    teamId,
    gatewayId: gatewayRef && (gateway?.id ?? ""),
    gatewayPublicId: gateway?.publicId ?? null,
    libraryIds: libraryIds === undefined ? null : [...new Set(libraryIds)],
    mcpDefaultLibraryId: mcpDefaultLibraryRef && (defaultLibrary?.id ?? ""),
    missing: [...new Set(missing)],
  };
  return { references, unresolved };
}
