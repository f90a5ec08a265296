/** Table of the four kinds of resources. */

import { API_MANAGED_KEY_FIELDS } from "../../../domain/key/declaration/api-managed-key.ts";
import { isClusterScoped, type Kind } from "../../../domain/kinds/kinds.ts";

/** Kinds that the management API makes. */
type MadeKind = Exclude<Kind, "PlatformKeyPolicy">;

import { specSchema } from "../../../domain/manifest/validation/json-schema.ts";
import type { Revealed } from "./values.ts";

/** Properties of a resource, without marks of secrets. */
export type Inputs = { readonly [property: string]: Revealed };

export type ResourceKind = {
  /** Type in the package's schema. */
  readonly type: `keyplane:index:${MadeKind}`;
  /** Kind of the declarations (crds/). */
  readonly kind: MadeKind;
  /** Path in the API. */
  readonly path: "keys" | "teams" | "libraries" | "gateways";
  /** Noun for messages. */
  readonly noun: string;
  /** Properties that are fields of its spec. */
  readonly specFields: readonly string[];
  /** Properties that identify the object. If one of them changes, it is another object. */
  readonly identity: readonly string[];
  /** True if two objects with different identities cannot exist at the same time. */
  excludes(old: Inputs, next: Inputs): boolean;
};

function define(
  kind: MadeKind,
  path: ResourceKind["path"],
  noun: string,
  special: Partial<Pick<ResourceKind, "specFields" | "excludes">> = {},
): ResourceKind {
  return {
    type: `keyplane:index:${kind}`,
    kind,
    path,
    noun,
    specFields: Object.keys(specSchema(kind).properties ?? {}),
    identity: isClusterScoped(kind) ? ["name"] : ["name", "team", "namespace"],
    excludes: () => false,
    ...special,
  };
}

const KINDS: readonly ResourceKind[] = [
  define("PlatformKey", "keys", "key", { specFields: API_MANAGED_KEY_FIELDS }),
  define("PlatformTeam", "teams", "team", {
    // A namespace is one team's.
    excludes: (old, next) => namespacesOf(old).some((namespace) => namespacesOf(next).includes(namespace)),
  }),
  define("ModelGateway", "gateways", "gateway", {
    excludes: (old, next) => old.publicID !== undefined && old.publicID === next.publicID,
  }),
  define("MemoryLibrary", "libraries", "library"),
];

export const RESOURCES: ReadonlyMap<string, ResourceKind> = new Map(KINDS.map((kind) => [kind.type, kind]));

function namespacesOf({ namespaces }: Inputs): readonly Revealed[] {
  return Array.isArray(namespaces) ? namespaces : [];
}

/** Returns the properties of a resource that are its spec. */
export function specOf({ specFields }: ResourceKind, inputs: Inputs): Inputs {
  return Object.fromEntries(Object.entries(inputs).filter(([property]) => specFields.includes(property)));
}
