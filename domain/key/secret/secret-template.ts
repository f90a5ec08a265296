import type { DeclaredKey } from "../declaration/declared-key.ts";
import { gatewayUrl, SDK_VARIABLES } from "./sdk-variables.ts";

/** URLs under which clients reach the server: the base of every URL that a template writes. */
export type Endpoints = {
  readonly publicUrl: string;
  /** Public id of the gateway that the key is bound to; null if it is bound to none. */
  readonly gatewayPublicId: string | null;
};

type Template = NonNullable<DeclaredKey["secret"]["template"]>;

/** Part of a declaration on which a Secret's data depends. */
type Rendered = Pick<DeclaredKey, "scopes"> & { readonly secret: Pick<DeclaredKey["secret"], "template" | "dataKey"> };

/** Data that each template adds beside the key itself (spec §3, §5). */
const TEMPLATES: Record<Template, (key: string, declared: Rendered, endpoints: Endpoints) => Record<string, string>> = {
  /** Template for `envFrom`: data keys are names of variables, of a bound key also those that official SDKs read. */
  Env: (key, _, { publicUrl, gatewayPublicId }) => ({
    KEYPLANE_API_KEY: key,
    KEYPLANE_BASE_URL: publicUrl,
    ...(gatewayPublicId === null ? {} : sdkVariables(key, gatewayUrl(publicUrl, gatewayPublicId))),
  }),
  /** The configuration file of a memory client. */
  McpConfig: (key, _, { publicUrl }) => ({
    "mcp.json": `${JSON.stringify({ mcpServers: { memory: mcpServer(key, publicUrl) } }, null, 2)}\n`,
  }),
  /** Template in the form of servicebinding.io: a folder of files that describe the service. */
  ServiceBinding: (key, declared, { publicUrl }) => ({
    type: "keyplane",
    provider: "keyplane",
    uri: publicUrl,
    password: key,
    scopes: declared.scopes.join(" "),
  }),
};

/** True if a name is one of a template that this build knows. */
export function isTemplate(name: string): name is Template {
  return Object.hasOwn(TEMPLATES, name);
}

function sdkVariables(key: string, url: string): Record<string, string> {
  const variables = Object.values(SDK_VARIABLES);
  return Object.fromEntries(
    variables.flatMap((sdk) => [
      [sdk.key, key],
      [sdk.baseUrl, `${url}${sdk.path}`],
    ]),
  );
}

function mcpServer(key: string, publicUrl: string) {
  return {
    type: "http",
    url: `${publicUrl}/api/v1/memory/mcp`,
    headers: {
      Authorization: `Bearer ${key}`,
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
    },
  };
}

/** Renders a Secret's whole data for a key: texts by data key. The key's own data key wins over a template's. */
export function renderSecretData(key: string, declared: Rendered, endpoints: Endpoints): Record<string, string> {
  const { template, dataKey } = declared.secret;
  return { ...(template === null ? {} : TEMPLATES[template](key, declared, endpoints)), [dataKey]: key };
}
