/** The three providers, each with its SDK and with the variables that say how it is reached. */
import { join } from "node:path";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { ROOT } from "../../architecture/sources.ts";
import { startGateway, upstreamOf } from "../../server/gateway/gateway.ts";
import { runModels, type TriedModels } from "../tried-models.ts";

export type Provider = {
  readonly dialect: Dialect;
  readonly program: string;
  readonly client: { readonly name: string; readonly argument: string };
  /** The path of the SDK's base URL, behind that of the gateway. */
  readonly path: string;
  /** The variable that has the credential: without it the provider is not asked. */
  readonly credential: string;
  /** Variables, each with its default. */
  readonly baseUrl: readonly [string, string];
  readonly model: readonly [string, string];
};

export const PROVIDERS: readonly Provider[] = [
  {
    dialect: "openai",
    program: "typescript/openai.mjs",
    client: { name: "OpenAI", argument: "baseURL" },
    path: "/v1",
    credential: "OPENAI_API_KEY",
    baseUrl: ["OPENAI_BASE_URL", "https://api.openai.com/v1"],
    model: ["OPENAI_MODEL", "gpt-5-mini"],
  },
  {
    dialect: "anthropic",
    program: "typescript/anthropic.mjs",
    client: { name: "Anthropic", argument: "baseURL" },
    path: "",
    credential: "ANTHROPIC_API_KEY",
    baseUrl: ["ANTHROPIC_BASE_URL", "https://api.anthropic.com"],
    model: ["ANTHROPIC_MODEL", "claude-haiku-4-5"],
  },
  {
    dialect: "gemini",
    program: "typescript/google-genai.mjs",
    client: { name: "GoogleGenAI", argument: "httpOptions.baseUrl" },
    path: "",
    credential: "GEMINI_API_KEY",
    baseUrl: ["GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"],
    model: ["GEMINI_MODEL", "gemini-2.5-flash"],
  },
];

type Variables = Readonly<Record<string, string | undefined>>;

/** Has a provider's SDK do through a gateway what needs no fault of the provider. */
export async function tryProvider(
  { dialect, program, client, path, credential, baseUrl, model }: Provider,
  env: Variables,
): Promise<TriedModels> {
  const setting = ([name, otherwise]: readonly [string, string]) => env[name] || otherwise;
  const gateway = await startGateway();
  try {
    const upstream = upstreamOf(setting(baseUrl), dialect, { credential: env[credential] ?? "" });
    const { publicId } = gateway.addGateway({ upstreams: [upstream] });
    const run = {
      ...{ program, client, model: setting(model), upstream: "provider" as const },
      baseUrl: `${gateway.url}/g/${publicId}${path}`,
      key: gateway.addKey(),
      otherKey: gateway.addKey({ scopes: scopeSet(["memory:read"]) }),
    };
    return await runModels(run, { modules: join(ROOT, "node_modules") });
  } finally {
    await gateway.close();
  }
}
