/** What the Pulumi package `keyplane` consists of: its schema and its TypeScript types are both rendered from this. */
import type { Kind } from "../domain/manifest/kinds.ts";
import type { Schema } from "../domain/manifest/schema.ts";
import { keyResource } from "./pulumi-key.ts";
import {
  type Fields,
  fieldsOf,
  nameOf,
  need,
  type Property,
  placeOf,
  resource,
  type Signature,
  specOf,
  TEAM_ID,
} from "./pulumi-resource.ts";

export type PulumiPackage = {
  readonly config: Fields;
  readonly resources: Readonly<Record<Kind, Signature>>;
  /** By name; `kind` is what they look for. */
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
    PlatformTeam: resource(crds.PlatformTeam, { name: nameOf(crds.PlatformTeam), ...specOf(crds.PlatformTeam) }),
    ModelGateway: gatewayResource(crds.ModelGateway),
    MemoryLibrary: resource(
      crds.MemoryLibrary,
      { ...placeOf(crds.MemoryLibrary), ...specOf(crds.MemoryLibrary) },
      { teamId: TEAM_ID },
    ),
  };
  return {
    config: CONFIG,
    resources,
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
  const spec = specOf(crd);
  const upstreams = need(spec.upstreams, "upstreams");
  const { credentialRef: _, ...upstream } = fieldsOf(upstreams.items);
  const credential: Property = {
    type: "string",
    description:
      "The provider's credential. It goes in and never comes out. Left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do.",
    secret: true,
  };
  const items = {
    ...need(upstreams.items, "upstreams[]"),
    required: ["name", "dialect", "baseURL"],
    properties: { ...upstream, credential },
  };
  return resource(
    crd,
    { ...placeOf(crd), ...spec, upstreams: { ...upstreams, items } },
    {
      teamId: TEAM_ID,
      publicID: need(spec.publicID, "publicID"),
      missingCredentials: {
        type: "array",
        description: "Upstreams without a credential, which forward nothing.",
        items: { type: "string", description: "An upstream's name." },
      },
    },
  );
}

/** @param hidden outputs of the resource that nobody else can know */
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
      required: ["id", ...(outputs.required ?? [])],
      properties: { id, ...Object.fromEntries(shown) },
    },
  } as const;
}
