import type { Diagnostic } from "./diagnostic.ts";
import { isClusterScoped, type Kind } from "./kinds.ts";
import type { ManifestDocument } from "./parse.ts";
import type { ReadManifest } from "./validate.ts";

/** A document beside what it was read as. */
export type SetEntry = { readonly document: ManifestDocument; readonly read: ReadManifest };

/**
 * What is wrong with manifests that are applied together: the same object declared twice. Of several the later ones
 * are at fault, in the order given.
 */
export function findDuplicates(entries: readonly SetEntry[]): Diagnostic[] {
  const first = new Map<string, Diagnostic>();
  return entries.flatMap(({ document, read: { identity } }) => {
    if (identity === undefined) return [];
    const { kind, namespace, name } = identity;
    const known = first.get(`${kind}/${namespace}/${name}`);
    if (known === undefined) {
      first.set(`${kind}/${namespace}/${name}`, document.diagnostic(["metadata", "name"], ""));
      return [];
    }
    const what = kind !== "Secret" && isClusterScoped(kind) ? name : `${namespace}/${name}`;
    const message = `${kind} ${what} is declared in ${known.file}:${known.line} too: remove one of the two`;
    return [document.diagnostic(["metadata", "name"], message)];
  });
}

/** A reference to an object of a kind, and the field it is in. */
type Reference = {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly path: (string | number)[];
};

/**
 * Warns of libraries and gateways that are referred to and not among the manifests. They may be in the cluster; as
 * long as they are not, the reference grants nothing.
 */
export function findMissingReferences(entries: readonly SetEntry[]): Diagnostic[] {
  const declared = new Set(
    entries.flatMap(({ read: { identity: id } }) => (id ? [`${id.kind}/${id.namespace}/${id.name}`] : [])),
  );
  return entries.flatMap(({ document, read }) =>
    referencesOf(read)
      .filter(({ kind, namespace, name }) => !declared.has(`${kind}/${namespace}/${name}`))
      .map(({ kind, namespace, name, path }) => {
        const message = `there is no ${kind} ${namespace}/${name} among these manifests: declare it, or correct the name`;
        return document.diagnostic(path, message, { severity: "warning" });
      }),
  );
}

function referencesOf({ manifest }: ReadManifest): Reference[] {
  if (manifest?.kind === "PlatformTeam") {
    const { mcpAgentPolicy, members } = manifest.spec;
    const library = mcpAgentPolicy?.defaultLibraryRef;
    const kind = "MemoryLibrary" as const;
    return [
      ...(library ? [{ kind, ...library, path: ["spec", "mcpAgentPolicy", "defaultLibraryRef"] }] : []),
      ...members.flatMap(({ libraryRefs = [] }, member) =>
        libraryRefs.map((ref, place) => ({ kind, ...ref, path: ["spec", "members", member, "libraryRefs", place] })),
      ),
    ];
  }
  if (manifest?.kind !== "PlatformKey" && manifest?.kind !== "MemoryLibrary") return [];
  const { namespace } = manifest;
  const within = (kind: Kind, ref: { name: string; namespace?: string } | undefined, path: (string | number)[]) =>
    ref === undefined ? [] : [{ kind, namespace: ref.namespace ?? namespace, name: ref.name, path: ["spec", ...path] }];
  if (manifest.kind === "MemoryLibrary") {
    return within("ModelGateway", manifest.spec.embedding?.gatewayRef, ["embedding", "gatewayRef"]);
  }
  const { spec } = manifest;
  return [
    ...within("ModelGateway", spec.gatewayRef, ["gatewayRef"]),
    ...within("MemoryLibrary", spec.mcpDefaultLibraryRef, ["mcpDefaultLibraryRef"]),
    ...(spec.libraryAccess?.libraryRefs ?? []).flatMap((ref, place) =>
      within("MemoryLibrary", ref, ["libraryAccess", "libraryRefs", place]),
    ),
  ];
}
