import type { DeclaredKey } from "../declaration/declared-key.ts";
import { gatewayUrl, SDK_VARIABLES } from "./sdk-variables.ts";

/** Where clients reach the server: the base of every URL that a template writes. */
export type Endpoints = {
  readonly publicUrl: string;
  /** Of the gateway that the key is bound to; null for a key that is bound to none. */
  readonly gatewayPublicId: string | null;
};

type Template = NonNullable<DeclaredKey["secret"]["template"]>;

/** What of a declaration a Secret's data depends on. */
type Rendered = Pick<DeclaredKey, "scopes"> & { readonly secret: Pick<DeclaredKey["secret"], "template" | "dataKey"> };

/** What each template adds beside the key itself (spec §3, §5). */
const TEMPLATES: Record<Template, (key: string, declared: Rendered, endpoints: Endpoints) => Record<string, string>> = {
  /** For `envFrom`: the data keys are the variables' names; of a bound key also those that the official SDKs read. */
  Env: (key, _, { publicUrl, gatewayPublicId }) => ({
    KEYPLANE_API_KEY: key,
    KEYPLANE_BASE_URL: publicUrl,
    ...(gatewayPublicId === null ? {} : sdkVariables(key, gatewayUrl(publicUrl, gatewayPublicId))),
  }),
  /** The configuration file of a memory client. */
  McpConfig: (key, _, { publicUrl }) => ({
    "mcp.json": `${JSON.stringify({ mcpServers: { memory: mcpServer(key, publicUrl) } }, null, 2)}\n`,
  }),
  /** As servicebinding.io has it: a folder of files that says what it is. */
  ServiceBinding: (key, declared, { publicUrl }) => ({
    type: "keyplane",
    provider: "keyplane",
    uri: publicUrl,
    password: key,
    scopes: declared.scopes.join(" "),
  }),
};

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

/** The Secret's whole data for a key: its text by data key. The key's own data key wins over a template's. */
export function renderSecretData(key: string, declared: Rendered, endpoints: Endpoints): Record<string, string> {
  const { template, dataKey } = declared.secret;
  return { ...(template === null ? {} : TEMPLATES[template](key, declared, endpoints)), [dataKey]: key };
}
