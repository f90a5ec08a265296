/** What is in a Secret, each rule as one change of a declaration or of where its server is. */
import type { renderSecretData } from "../../../../domain/key/secret/secret-template.ts";
import type { RuleSet } from "../../rule-table.ts";

type Rendered = Parameters<typeof renderSecretData>;
type State = { readonly key: Rendered[0]; readonly declared: Rendered[1]; readonly endpoints: Rendered[2] };
type Data = ReturnType<typeof renderSecretData>;

const BASES = {
  "bare Secret": {
    is: "A key for the memory, bound to no gateway, without a template; `inf_secret` stands for its plaintext.",
    state: {
      key: "inf_secret",
      declared: { scopes: ["memory:read", "memory:write"], secret: { template: null, dataKey: "api-key" } },
      endpoints: { publicUrl: "https://keyplane.example", gatewayPublicId: null },
    },
  },
} as const satisfies Record<string, { is: string; state: State }>;

const mcpConfig = `{
  "mcpServers": {
    "memory": {
      "type": "http",
      "url": "https://keyplane.example/api/v1/memory/mcp",
      "headers": {
        "Authorization": "Bearer inf_secret",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json"
      }
    }
  }
}
`;
const gatewayUrl = "https://keyplane.example/g/gateway-a";

export const SECRET_DATA_RULES: RuleSet<keyof typeof BASES, State, Data> = {
  title: "What is in a Secret",
  bases: BASES,
  tables: [
    {
      decision: "The data of a Secret",
      says: "The key by its own data key, and what the template adds.",
      source: "domain/key/secret/secret-template.ts",
      rows: [
        {
          rule: "without a template the Secret has the key alone",
          from: "bare Secret",
          change: {},
          outcome: { "api-key": "inf_secret" },
        },
        {
          rule: "the key has the declared data key",
          from: "bare Secret",
          change: { declared: { secret: { dataKey: "token" } } },
          outcome: { token: "inf_secret" },
        },
        {
          rule: "Env has the variables of Keyplane",
          from: "bare Secret",
          change: { declared: { secret: { template: "Env" } } },
          outcome: {
            "api-key": "inf_secret",
            KEYPLANE_API_KEY: "inf_secret",
            KEYPLANE_BASE_URL: "https://keyplane.example",
          },
        },
        {
          rule: "Env has the variables of the SDKs, too, for a key that is bound to a gateway",
          from: "bare Secret",
          change: { declared: { secret: { template: "Env" } }, endpoints: { gatewayPublicId: "gateway-a" } },
          outcome: {
            "api-key": "inf_secret",
            KEYPLANE_API_KEY: "inf_secret",
            KEYPLANE_BASE_URL: "https://keyplane.example",
            OPENAI_API_KEY: "inf_secret",
            OPENAI_BASE_URL: `${gatewayUrl}/v1`,
            GEMINI_API_KEY: "inf_secret",
            GOOGLE_GEMINI_BASE_URL: gatewayUrl,
            ANTHROPIC_API_KEY: "inf_secret",
            ANTHROPIC_BASE_URL: gatewayUrl,
          },
        },
        {
          rule: "McpConfig has the configuration of a memory client",
          from: "bare Secret",
          change: { declared: { secret: { template: "McpConfig" } } },
          outcome: { "api-key": "inf_secret", "mcp.json": mcpConfig },
        },
        {
          rule: "ServiceBinding has the entries of servicebinding.io",
          from: "bare Secret",
          change: { declared: { secret: { template: "ServiceBinding" } } },
          outcome: {
            "api-key": "inf_secret",
            type: "keyplane",
            provider: "keyplane",
            uri: "https://keyplane.example",
            password: "inf_secret",
            scopes: "memory:read memory:write",
          },
        },
        {
          rule: "the key wins where a template has an entry of its data key",
          from: "bare Secret",
          change: { declared: { secret: { template: "Env", dataKey: "KEYPLANE_BASE_URL" } } },
          outcome: { KEYPLANE_API_KEY: "inf_secret", KEYPLANE_BASE_URL: "inf_secret" },
        },
      ],
    },
  ],
};
