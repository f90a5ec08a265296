/** The four kinds of resources, as a table: what is said once of each, here. */

import { isDeepStrictEqual } from "node:util";
import { API_MANAGED_KEY_FIELDS } from "../../../domain/key/declaration/api-managed-key.ts";
import { isClusterScoped, type Kind } from "../../../domain/kinds/kinds.ts";

/** The kinds that the management API makes. */
type MadeKind = Exclude<Kind, "PlatformKeyPolicy">;

import { specSchema } from "../../../domain/manifest/validation/json-schema.ts";
import type { Revealed } from "./values.ts";

/** Properties of a resource without marks. */
export type Inputs = { readonly [property: string]: Revealed };

export type ResourceKind = {
  /** In the package's schema. */
  readonly type: `keyplane:index:${MadeKind}`;
  /** Of the declarations (crds/). */
  readonly kind: MadeKind;
  /** In the API. */
  readonly path: "keys" | "teams" | "libraries" | "gateways";
  /** In messages. */
  readonly noun: string;
  /** The properties that are fields of its spec. */
  readonly specFields: readonly string[];
  /** The properties that say which object it is: another of these is another object. */
  readonly identity: readonly string[];
  /** Whether two that differ in their identity cannot be there at the same time. */
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

/** The part of a resource's properties that is its spec. */
export function specOf({ specFields }: ResourceKind, inputs: Inputs): Inputs {
  return Object.fromEntries(Object.entries(inputs).filter(([property]) => specFields.includes(property)));
}

/** Whether the properties are of one and the same object. */
export function isSameObject({ identity }: ResourceKind, a: Inputs, b: Inputs): boolean {
  return identity.every((property) => isDeepStrictEqual(a[property] ?? "", b[property] ?? ""));
}
