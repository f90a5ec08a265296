/** Contents of the Pulumi package `keyplane`: its schema and its TypeScript types are both rendered from this. */
import type { Kind } from "../domain/kinds/kinds.ts";
import type { Schema } from "../domain/kinds/schema.ts";
import { withFreeLibraries } from "../domain/manifest/validation/team-libraries.ts";
import { environmentKeys } from "./pulumi-component.ts";
import { keyResource } from "./pulumi-key.ts";
import {
  type Fields,
  locationProperties,
  nameProperty,
  need,
  type Property,
  propertiesOf,
  resource,
  type Signature,
  specProperties,
  TEAM_ID,
} from "./pulumi-resource.ts";

export type PulumiPackage = {
  readonly config: Fields;
  /** Resources by their kind. A policy is only declared: the management API makes none. */
  readonly resources: Readonly<Record<Exclude<Kind, "PlatformKeyPolicy">, Signature>>;
  /** Components by their name, which are made of resources. */
  readonly components: Readonly<Record<string, Signature>>;
  /** Functions by their name; `kind` is what they look for. */
  readonly functions: Readonly<Record<string, Signature & { readonly kind: Kind }>>;
};

const CONFIG: Fields = {
  url: {
    type: "string",
    description: "Where Keyplane's server is, such as https://keyplane.example.com. KEYPLANE_URL where it is left out.",
  },
  tokenFile: {
    type: "string",
    description:
      "The path of the file with the token that the management API is asked with; it is read again when it changes. KEYPLANE_TOKEN_FILE where it is left out. A token itself is never configuration: KEYPLANE_TOKEN may hold it.",
  },
};

/** @param crds the schema of each kind in `crds/`, which says most of it */
export function pulumiPackage(crds: Readonly<Record<Kind, Schema>>): PulumiPackage {
  const resources = {
    PlatformKey: keyResource(crds.PlatformKey),
    PlatformTeam: teamResource(crds.PlatformTeam),
    ModelGateway: gatewayResource(crds.ModelGateway),
    MemoryLibrary: resource(
      crds.MemoryLibrary,
      { ...locationProperties(crds.MemoryLibrary), ...specProperties(crds.MemoryLibrary) },
      { teamId: TEAM_ID },
    ),
  };
  return {
    config: CONFIG,
    resources,
    components: { EnvironmentKeys: environmentKeys(resources.PlatformKey) },
    functions: {
      getKey: lookup("PlatformKey", resources.PlatformKey, [
        "deliver",
        "rotation",
        "reason",
        "secret",
        "previousSecret",
      ]),
      getTeam: lookup("PlatformTeam", resources.PlatformTeam),
      getGateway: lookup("ModelGateway", resources.ModelGateway),
    },
  };
}

function gatewayResource(crd: Schema): Signature {
  const spec = specProperties(crd);
  const credential = [
    "The provider's credential. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do.",
    ["name", "dialect", "baseURL"],
  ] as const;
  const noCredential: Property = {
    type: "boolean",
    description: "True, without a credential, for an upstream that calls go to without one.",
  };
  const upstreams = withSecret(need(spec.upstreams, "upstreams"), "credentialRef", "credential", credential, {
    noCredential,
  });
  return resource(
    crd,
    { ...locationProperties(crd), ...spec, upstreams },
    {
      teamId: TEAM_ID,
      publicID: need(spec.publicID, "publicID"),
      missingCredentials: {
        type: "array",
        description: "Upstreams whose credential is missing, which forward nothing.",
        items: { type: "string", description: "An upstream's name." },
      },
    },
  );
}

function teamResource(crd: Schema): Signature {
  const spec = propertiesOf(withFreeLibraries(need(crd.properties?.spec, "spec")));
  const webhooks = withSecret(need(spec.webhooks, "webhooks"), "secretRef", "secret", [
    "The signing secret: whsec_ and 24 to 64 random bytes in base64. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the URL does.",
    ["url", "events"],
  ]);
  return resource(
    crd,
    { name: nameProperty(crd), ...spec, webhooks },
    {
      missingSecrets: {
        type: "array",
        description: "Webhooks without a signing secret, to which nothing is sent.",
        items: { type: "string", description: "A webhook's URL." },
      },
    },
  );
}

/** Replaces, in a list's entries, the reference to a secret by the secret itself. */
function withSecret(
  list: Property,
  reference: string,
  field: string,
  [description, required]: readonly [string, readonly string[]],
  others: Readonly<Record<string, Property>> = {},
): Property {
  const { [reference]: _, ...fields } = propertiesOf(list.items);
  const secret: Property = { type: "string", description, secret: true };
  const items = { ...need(list.items, "items"), required, properties: { ...fields, [field]: secret, ...others } };
  return { ...list, items };
}

/** @param hidden outputs of the resource that only its own stack can know */
function lookup(kind: Kind, { description, outputs }: Signature, hidden: readonly string[] = []) {
  const { name, team, namespace } = outputs.properties ?? {};
  const id: Property = { type: "string", description: "Its id." };
  const shown = Object.entries(outputs.properties ?? {}).filter(([field]) => !hidden.includes(field));
  const inputs: Fields = { id, ...(name && { name }), ...(team && { team }), ...(namespace && { namespace }) };
  return {
    kind,
    description: `Finds one by its id, or by its name${team ? ", team and namespace" : ""}. ${description}`,
    inputs: { type: "object", properties: inputs },
    outputs: {
      ...outputs,
      required: ["id", ...(outputs.required ?? []).filter((field) => !hidden.includes(field))],
      properties: { id, ...Object.fromEntries(shown) },
    },
  } as const;
}
