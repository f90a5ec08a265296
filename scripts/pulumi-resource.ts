/** Parts of the resources of the Pulumi package. */
import type { Schema } from "../domain/kinds/schema.ts";

/** Value that goes in or comes out: a schema as in `crds/`, with what Pulumi must know besides. */
export type Property = Omit<Schema, "items" | "properties"> & {
  readonly items?: Property;
  readonly properties?: Fields;
  /** Set if the value is encrypted in the state. */
  readonly secret?: true;
  /** Set if another value makes another resource. */
  readonly replaces?: true;
  /** Type or resource of the package that it refers to, instead of a type of its own. */
  readonly refersTo?: readonly ["types" | "resources", string];
  /** Name of its type, if that is not made of the path that leads to it. */
  readonly typeName?: string;
};
export type Fields = Readonly<Record<string, Property>>;

/** Inputs and outputs of a resource or a function, each an object. */
export type Signature = { readonly description: string; readonly inputs: Property; readonly outputs: Property };

const TEAM: Property = { type: "string", description: "The team that it belongs to, by its name.", replaces: true };
export const TEAM_ID: Property = { type: "string", description: "The id of its team." };
const NAMESPACE: Property = {
  type: "string",
  description: "One of the namespaces of a team that was made here; none where it is left out.",
  replaces: true,
};

/**
 * Returns a resource that is made of a declaration of `crds/`.
 *
 * @param outputs what is known of every such resource, besides its inputs
 * @param perhaps what is known of some of them
 */
export function resource(crd: Schema, inputs: Fields, outputs: Fields = {}, perhaps: Fields = {}): Signature {
  const description = crd.description ?? "";
  const given = ["team", ...(crd.properties?.spec?.required ?? [])].filter((name) => name in inputs);
  return {
    description,
    inputs: { type: "object", description, required: given, properties: inputs },
    outputs: {
      type: "object",
      description,
      required: [...new Set(["name", ...given, ...Object.keys(outputs)])],
      properties: { ...inputs, name: { ...metadataName(crd), replaces: true }, ...outputs, ...perhaps },
    },
  };
}

/** Returns the properties that say where a resource is: its name, its team, its namespace. */
export function locationProperties(crd: Schema): Fields {
  return { name: nameProperty(crd), team: TEAM, namespace: NAMESPACE };
}

export function nameProperty(crd: Schema): Property {
  const name = metadataName(crd);
  const description = `${name.description ?? ""} Made from the resource's name where it is left out.`;
  return { ...name, description, replaces: true };
}

function metadataName(crd: Schema): Property {
  return need(crd.properties?.metadata?.properties?.name, "metadata.name");
}

export function specProperties(crd: Schema): Fields {
  return propertiesOf(crd.properties?.spec);
}

export function propertiesOf(property: Property | undefined): Fields {
  return need(property?.properties, "properties");
}

/** Returns a field of the status. */
export function described(crd: Schema, name: string): Property {
  return need(crd.properties?.status?.properties?.[name], name);
}

export function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`crds/ has no ${what} any more: change scripts/pulumi-*.ts with it`);
  return value;
}
