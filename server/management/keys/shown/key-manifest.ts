import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import type { NamedRef } from "../../../../domain/key/declaration/declared-key.ts";
import { TAKE_OVER_ANNOTATION } from "../../../../domain/key/observed/take-over.ts";
import { API_VERSION } from "../../../../domain/kinds/kinds.ts";

/** A PlatformKey that takes over a key which was made by hand. */
export type KeyManifest = ReturnType<typeof keyManifest>;

/** What the manifest of a key is made of. */
type DeclarableKey = {
  readonly name: string;
  readonly spec: ApiManagedKeySpec;
  /** What the key is bound to and there is, by name; empty namespaces are of what the API made. */
  readonly gateways: readonly NamedRef[];
  readonly libraries: readonly NamedRef[];
};

/** And that of a key which there is already. */
export type ExportedKey = DeclarableKey & {
  readonly id: string;
  /** Of the version in use. */
  readonly hash: { readonly sha256: string; readonly prefix: string };
};

/** A PlatformKey as it is written. */
export function platformKey<Metadata, Spec>(metadata: Metadata, spec: Spec) {
  return { apiVersion: API_VERSION, kind: "PlatformKey", metadata, spec } as const;
}

/** The manifest of a key in a namespace, which takes the key over. */
export function keyManifest({ id, hash, ...key }: ExportedKey, namespace: string) {
  const metadata = { name: key.name, namespace, annotations: { [TAKE_OVER_ANNOTATION]: id } };
  return platformKey(metadata, { ...declarableSpec(key, namespace), source: { type: "ImportHash", hash } });
}

/**
 * What a key that is made by hand is as a PlatformKey in a namespace. Each reference names the namespace of what it
 * means, where that is another.
 */
export function declarableSpec({ spec, gateways, libraries }: DeclarableKey, namespace: string) {
  const { gatewayRef, libraryAccess, mcpDefaultLibraryRef, state, ...rest } = spec;
  const library = (ref: Ref) => placed(ref, libraries, namespace);
  return {
    ...rest,
    ...(gatewayRef && { gatewayRef: placed(gatewayRef, gateways, namespace) }),
    ...(libraryAccess && {
      libraryAccess: {
        ...libraryAccess,
        ...(libraryAccess.libraryRefs && { libraryRefs: libraryAccess.libraryRefs.map(library) }),
      },
    }),
    ...(mcpDefaultLibraryRef && { mcpDefaultLibraryRef: library(mcpDefaultLibraryRef) }),
    ...(state === "Active" ? {} : { state }),
  };
}

type Ref = { readonly name: string; readonly namespace?: string };

/** A reference without a namespace is the API's for the only one of that name; empty for what no declaration made. */
function namespaceOf({ name, namespace }: Ref, known: readonly NamedRef[]): string {
  const named = known.filter((one) => one.name === name);
  return named.find((one) => namespace === undefined || one.namespace === namespace)?.namespace ?? "";
}

function placed(ref: Ref, known: readonly NamedRef[], home: string): Ref {
  const where = namespaceOf(ref, known);
  return where === "" || where === home ? { name: ref.name } : { name: ref.name, namespace: where };
}

/** What the key is bound to and is to be declared before it: the API made it, or it is gone. As `MemoryLibrary handbook`. */
export function undeclaredReferences({ spec, gateways, libraries }: DeclarableKey): string[] {
  const { gatewayRef, libraryAccess, mcpDefaultLibraryRef } = spec;
  const titles = (kind: string, refs: readonly (Ref | undefined)[], known: readonly NamedRef[]) =>
    refs.flatMap((ref) => (ref === undefined || namespaceOf(ref, known) !== "" ? [] : [`${kind} ${ref.name}`]));
  const all = [
    ...titles("ModelGateway", [gatewayRef], gateways),
    ...titles("MemoryLibrary", [...(libraryAccess?.libraryRefs ?? []), mcpDefaultLibraryRef], libraries),
  ];
  return [...new Set(all)];
}
