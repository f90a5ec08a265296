import type { ApiManagedKeySpec } from "../../../domain/key/api-managed-key.ts";
import type { NamedRef } from "../../../domain/key/declared-key.ts";
import { TAKE_OVER_ANNOTATION } from "../../../domain/key/take-over.ts";
import { API_VERSION } from "../../../domain/kinds/kinds.ts";

/** A PlatformKey that takes over a key which was made by hand. */
export type KeyManifest = {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: "PlatformKey";
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations: { readonly [TAKE_OVER_ANNOTATION]: string };
  };
  readonly spec: Omit<ApiManagedKeySpec, "state"> &
    Partial<Pick<ApiManagedKeySpec, "state">> & {
      readonly source: {
        readonly type: "ImportHash";
        readonly hash: { readonly sha256: string; readonly prefix: string };
      };
    };
};

/** What a manifest is made of. */
export type ExportedKey = {
  readonly id: string;
  readonly name: string;
  readonly spec: ApiManagedKeySpec;
  /** Of the version in use. */
  readonly hash: { readonly sha256: string; readonly prefix: string };
  /** What the key is bound to and there is, by name; empty namespaces are of what the API made. */
  readonly gateways: readonly NamedRef[];
  readonly libraries: readonly NamedRef[];
};

/** The manifest of a key in a namespace. Each reference names the namespace of what it means, where that is another. */
export function keyManifest(key: ExportedKey, namespace: string): KeyManifest {
  const { id, name, spec, hash } = key;
  const { gatewayRef, libraryAccess, mcpDefaultLibraryRef, state, ...rest } = spec;
  const gateway = (ref: Ref) => placed(ref, key.gateways, namespace);
  const library = (ref: Ref) => placed(ref, key.libraries, namespace);
  return {
    apiVersion: API_VERSION,
    kind: "PlatformKey",
    metadata: { name, namespace, annotations: { [TAKE_OVER_ANNOTATION]: id } },
    spec: {
      ...rest,
      ...(gatewayRef && { gatewayRef: gateway(gatewayRef) }),
      ...(libraryAccess && {
        libraryAccess: {
          ...libraryAccess,
          ...(libraryAccess.libraryRefs && { libraryRefs: libraryAccess.libraryRefs.map(library) }),
        },
      }),
      ...(mcpDefaultLibraryRef && { mcpDefaultLibraryRef: library(mcpDefaultLibraryRef) }),
      ...(state === "Active" ? {} : { state }),
      source: { type: "ImportHash", hash },
    },
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
export function undeclaredReferences({ spec, gateways, libraries }: ExportedKey): string[] {
  const { gatewayRef, libraryAccess, mcpDefaultLibraryRef } = spec;
  const titles = (kind: string, refs: readonly (Ref | undefined)[], known: readonly NamedRef[]) =>
    refs.flatMap((ref) => (ref === undefined || namespaceOf(ref, known) !== "" ? [] : [`${kind} ${ref.name}`]));
  const all = [
    ...titles("ModelGateway", [gatewayRef], gateways),
    ...titles("MemoryLibrary", [...(libraryAccess?.libraryRefs ?? []), mcpDefaultLibraryRef], libraries),
  ];
  return [...new Set(all)];
}
