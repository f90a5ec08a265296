/** Component `EnvironmentKeys`. The provider makes its keys in infra/pulumi/environments.ts, which reads this. */
import { type Fields, need, type Property, propertiesOf, type Signature } from "./pulumi-resource.ts";

const ENVIRONMENTS = ["dev", "staging", "production"] as const;

/** Fields that are the same in all environments. */
const OF_ALL = ["team", "namespace", "preset"];

/** @param key the resource that it is made of, whose types are the component's too */
export function environmentKeys(key: Signature): Signature {
  const fields = Object.entries(propertiesOf(key.inputs)).map(([name, field]) => [name, ofKey(name, field)] as const);
  const properties = Object.fromEntries(fields.filter(([name]) => !OF_ALL.includes(name)));
  const field = (name: string, description: string) => ({
    ...need(Object.fromEntries(fields)[name], name),
    description,
  });
  return {
    description: "Keys for dev, staging and production, with no more rights than each of them needs.",
    inputs: {
      type: "object",
      required: ["team"],
      properties: {
        team: field("team", "The team that the keys belong to, by its name."),
        scopes: field("scopes", SCOPES),
        preset: field("preset", "A named set of scopes, instead of scopes; in production without memory:write."),
        gatewayRef: field("gatewayRef", "The one gateway that the keys are bound to, where they have a gateway scope."),
        libraryAccess: field("libraryAccess", LIBRARY_ACCESS),
        environments: {
          type: "object",
          description: "What is different in one environment.",
          properties: forEach(() => ({
            type: "object",
            description: "What is said of one environment's key counts before what is said of all.",
            typeName: "EnvironmentKeysEnvironment",
            properties,
          })),
        },
      },
    },
    outputs: {
      type: "object",
      required: ["keys", "secrets"],
      properties: {
        keys: {
          type: "object",
          description: "The keys.",
          required: ENVIRONMENTS,
          properties: forEach((environment) => ({
            type: "object",
            description: `The ${environment} key.`,
            refersTo: ["resources", "PlatformKey"],
          })),
        },
        secrets: {
          type: "object",
          description: "The secret of each key that is delivered.",
          secret: true,
          properties: forEach((environment) => ({ type: "string", description: `The ${environment} key's.` })),
        },
      },
    },
  };
}

const SCOPES =
  "What the application needs: memory:read where neither this nor a preset is given. A production key has memory:write only where environments.production.scopes says so.";
const LIBRARY_ACCESS =
  "The memory libraries that the keys may reach, where they have a memory scope; all of the team's where it is left out.";

/** Returns a property of a key as a property of a component, in which nothing is replaced. */
function ofKey(name: string, { replaces: _, ...field }: Property): Property {
  const { items } = field;
  if (items) return { ...field, items: ofKey(name.replace(/s$/, ""), items) };
  if (!field.properties && !field.enum) return field;
  return { ...field, refersTo: ["types", `PlatformKey${name.charAt(0).toUpperCase()}${name.slice(1)}`] };
}

function forEach(property: (environment: string) => Property): Fields {
  return Object.fromEntries(ENVIRONMENTS.map((environment) => [environment, property(environment)]));
}
