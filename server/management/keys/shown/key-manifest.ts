import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import type { NamedRef } from "../../../../domain/key/declaration/declared-key.ts";
import { TAKE_OVER_ANNOTATION } from "../../../../domain/key/observed/take-over.ts";
import { API_VERSION } from "../../../../domain/kinds/kinds.ts";

/** PlatformKey that takes over a key which was made by hand. */
export type KeyManifest = ReturnType<typeof keyManifest>;

/** Key of which a manifest can be made. */
type DeclarableKey = {
  readonly name: string;
  readonly spec: ApiManagedKeySpec;
  /**
   * Existing gateways and libraries that the key is bound to, by name. Objects that the API made have an empty
   * namespace.
   */
  readonly gateways: readonly NamedRef[];
  readonly libraries: readonly NamedRef[];
};

/** Existing key of which a manifest is made. */
export type ExportedKey = DeclarableKey & {
  readonly id: string;
  /** Hash of the version in use. */
  readonly hash: { readonly sha256: string; readonly prefix: string };
};

/** Returns a PlatformKey with its apiVersion and kind. */
export function platformKey<Metadata, Spec>(metadata: Metadata, spec: Spec) {
  return { apiVersion: API_VERSION, kind: "PlatformKey", metadata, spec } as const;
}

/** Returns the manifest of a key in a namespace, which takes the key over. */
export function keyManifest({ id, hash, ...key }: ExportedKey, namespace: string) {
  const metadata = { name: key.name, namespace, annotations: { [TAKE_OVER_ANNOTATION]: id } };
  return platformKey(metadata, { ...declarableSpec(key, namespace), source: { type: "ImportHash", hash } });
}

/**
 * Returns the spec of a PlatformKey in a namespace for a key that was made by hand. A reference to an object in another
 * namespace names that namespace.
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

/**
 * Returns the namespace of a referenced object; empty for an object that no declaration made. In the API, a reference
 * without a namespace means the only object of that name.
 */
function namespaceOf({ name, namespace }: Ref, known: readonly NamedRef[]): string {
  const named = known.filter((one) => one.name === name);
  return named.find((one) => namespace === undefined || one.namespace === namespace)?.namespace ?? "";
}

function placed(ref: Ref, known: readonly NamedRef[], home: string): Ref {
  const where = namespaceOf(ref, known);
  return where === "" || where === home ? { name: ref.name } : { name: ref.name, namespace: where };
}

/**
 * Lists the objects that the key is bound to and that have to be declared before it, such as `MemoryLibrary handbook`:
 * the API made them, or they are deleted.
 */
export function undeclaredReferences(key: DeclarableKey): string[] {
  const { gateways, libraries } = undeclaredNames(key);
  return [...gateways.map((name) => `ModelGateway ${name}`), ...libraries.map((name) => `MemoryLibrary ${name}`)];
}

/** Lists the names of these objects. */
export function undeclaredNames({ spec, gateways, libraries }: DeclarableKey) {
  const { gatewayRef, libraryAccess, mcpDefaultLibraryRef } = spec;
  const names = (refs: readonly (Ref | undefined)[], known: readonly NamedRef[]) => [
    ...new Set(refs.flatMap((ref) => (ref === undefined || namespaceOf(ref, known) !== "" ? [] : [ref.name]))),
  ];
  return {
    gateways: names([gatewayRef], gateways),
    libraries: names([...(libraryAccess?.libraryRefs ?? []), mcpDefaultLibraryRef], libraries),
  };
}
