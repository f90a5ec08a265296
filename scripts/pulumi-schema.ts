import type { PulumiPackage } from "./pulumi-package.ts";
import type { Fields, Property, Signature } from "./pulumi-resource.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the schema of the Pulumi package, as `pulumi package get-schema` shows it. It has no inner objects and
 * enumerations without a name: they are named after the kind and the path that leads to them.
 *
 * @returns JSON text
 * @throws if one name would mean two types
 */
export function renderPulumiSchema(
  { config, resources, components, functions }: PulumiPackage,
  about: {
    readonly version: string;
    readonly description: string;
    readonly license: string;
    readonly pluginDownloadURL?: string;
  },
): string {
  const types = new Map<string, Json>();
  const fieldsOf = (fields: Fields | undefined, path: string) =>
    mapValues(fields ?? {}, (field, name) => renderProperty(field, path + capitalise(name), types));
  const resourceOf = ({ description, inputs, outputs }: Signature, kind: string) => ({
    description,
    properties: fieldsOf(outputs.properties, kind),
    required: outputs.required,
    inputProperties: fieldsOf(inputs.properties, kind),
    requiredInputs: inputs.required,
  });
  const configuration = fieldsOf(config, "Provider");
  const body = {
    config: { variables: configuration },
    provider: {
      description: "Keyplane's management API, and who asks it.",
      inputProperties: mapValues(configuration, (field, name) => ({
        ...field,
        defaultInfo: { environment: [`KEYPLANE_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`] },
      })),
    },
    resources: {
      ...byToken(resources, resourceOf),
      ...byToken(components, (component, name) => ({ ...resourceOf(component, name), isComponent: true })),
    },
    functions: byToken(functions, ({ description, kind, inputs, outputs }) => ({
      description,
      inputs: { type: "object", properties: fieldsOf(inputs.properties, kind) },
      outputs: { type: "object", properties: fieldsOf(outputs.properties, kind), required: outputs.required },
    })),
  };
  // What the generators of SDKs ask for: the version of the schema as that of the SDK, and Go's path of it.
  const language = {
    go: { importBasePath: "keyplane.dev/pulumi/keyplane", respectSchemaVersion: true },
    nodejs: { respectSchemaVersion: true },
    python: { respectSchemaVersion: true, pyproject: { enabled: true } },
  };
  const named = Object.fromEntries([...types].sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ name: "keyplane", displayName: "Keyplane", ...about, language, ...body, types: named }, null, 2)}\n`;
}

/**
 * Returns the address that the engine gets the provider from: the releases of the repository on GitHub that
 * package.json names; nothing if it names none.
 */
export function pluginSource({ repository }: Json): { readonly pluginDownloadURL?: string } {
  const named = /\bgithub(?:\.com[/:]|:)([\w.-]+\/[\w.-]+?)(?:\.git)?["#]/.exec(JSON.stringify(repository ?? ""));
  return named === null ? {} : { pluginDownloadURL: `github://api.github.com/${named[1]}` };
}

function renderProperty(property: Property, path: string, types: Map<string, Json>): Json {
  const { secret, replaces } = property;
  return {
    description: describe(property),
    ...renderType(property, path, types),
    ...(secret && { secret }),
    ...(replaces && { replaceOnChanges: true }),
  };
}

function renderType(property: Property, path: string, types: Map<string, Json>): Json {
  const { type, items, properties, required, description, refersTo, typeName = path } = property;
  if (refersTo) return { $ref: `#/${refersTo[0]}/${tokenOf(refersTo[1])}` };
  if (items) return { type, items: renderType(items, path.replace(/s$/, ""), types) };
  if (properties) {
    const fields = mapValues(properties, (field, name) => renderProperty(field, typeName + capitalise(name), types));
    return define(typeName, { description, type, properties: fields, ...(required && { required }) }, types);
  }
  if (property.enum) {
    const values = property.enum.map((value) => ({ name: value.split(/\W/).map(capitalise).join(""), value }));
    return define(path, { description, type, enum: values }, types);
  }
  return { type };
}

function define(path: string, type: Json, types: Map<string, Json>): Json {
  const token = tokenOf(path);
  const before = types.get(token);
  if (before && JSON.stringify(before) !== JSON.stringify(type)) throw new Error(`${token} would be two types`);
  types.set(token, type);
  return { $ref: `#/types/${token}` };
}

/** Returns the description of a field, with its default. */
export function describe({ description = "", default: fallback }: Property): string {
  return fallback === undefined ? description : `${description} Default \`${JSON.stringify(fallback)}\`.`;
}

function byToken<T>(members: Readonly<Record<string, T>>, render: (member: T, name: string) => Json): Json {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [tokenOf(name), render(member, name)]));
}

function tokenOf(name: string): string {
  return `keyplane:index:${name}`;
}

function mapValues<T, R>(
  record: Readonly<Record<string, T>>,
  change: (value: T, name: string) => R,
): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
