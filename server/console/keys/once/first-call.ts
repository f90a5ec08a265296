import type { Dialect } from "../../../../domain/access/key-record.ts";
import { gatewayUrl, SDK_VARIABLES } from "../../../../domain/key/secret/sdk-variables.ts";
import { shellWord } from "../../../../domain/shell-word.ts";
import type { Db } from "../../../../store/database/change.ts";
import { listObjects, type StoredGateway } from "../../../../store/objects/objects.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { mayCallModels } from "../key-words.ts";

/** Gateway and model for a first call. */
export type CallableGateway = { readonly publicId: string; readonly dialect: Dialect; readonly model: string };

/**
 * Finds a gateway that a key may call: the gateway that it is bound to, or one of its team's. undefined if none
 * forwards its calls.
 */
export async function findCallableGateway(
  db: Db,
  key: Pick<KeyJson, "teamId" | "namespace" | "scopes" | "spec">,
): Promise<CallableGateway | undefined> {
  const { gatewayRef } = key.spec;
  // A reference without a namespace means the key's namespace; if the key has none, the only gateway of that name.
  const namespace = (gatewayRef && (gatewayRef.namespace ?? key.namespace)) || undefined;
  const of = { teamIds: [key.teamId], namespace, name: gatewayRef?.name };
  const found = await listObjects(db, "gateway", { ...of, limit: 10 });
  for (const gateway of found) {
    const call = callableModel(key, gateway);
    if (call !== undefined) return { publicId: gateway.publicId, ...call };
  }
  return undefined;
}

type Routed = Pick<StoredGateway, "routesOnly" | "operations"> & {
  readonly routes: readonly Pick<StoredGateway["routes"][number], "model" | "upstream">[];
  readonly upstreams: readonly Pick<StoredGateway["upstreams"][number], "name" | "dialect">[];
};

/**
 * Returns a model that a key may ask a gateway to generate with, a route first. undefined if it may ask for none, or if
 * nothing is forwarded.
 */
export function callableModel(
  { scopes, spec: { allowedModels } }: Pick<KeyJson, "scopes" | "spec">,
  { routesOnly, operations, routes, upstreams }: Routed,
): Pick<CallableGateway, "dialect" | "model"> | undefined {
  const [first] = upstreams;
  const mayGenerate = scopes.includes("gateway:generate") && operations.includes("generate");
  if (first === undefined || !mayGenerate) return undefined;
  const route = scopes.includes("gateway:routes")
    ? routes.find(({ model }) => allowedModels?.includes(model) ?? true)
    : undefined;
  if (route !== undefined) {
    const { dialect } = upstreams.find(({ name }) => name === route.upstream) ?? first;
    return { dialect, model: route.model };
  }
  const isRoute = (model: string) => routes.some((one) => one.model === model);
  const model = allowedModels === undefined ? "MODEL" : allowedModels.find((one) => !isRoute(one));
  return routesOnly || model === undefined ? undefined : { dialect: first.dialect, model };
}

/** Example of using a key, and the next step after copying it. */
type UsageExample = { readonly title: string; readonly code: string; readonly next: string };

const QUESTION = "Say hello.";
const BEARER = `-H @<(printf 'Authorization: Bearer %s' "$KEYPLANE_API_KEY")`;

/**
 * Shows how a new key is used: examples of a first call, the first example unfolded. Each reads the key from the
 * variable `KEYPLANE_API_KEY`, so that it may be copied into a file that others read.
 *
 * @param publicUrl URL at which clients reach this server, without a slash at its end
 */
export function firstCalls(
  key: Pick<KeyJson, "scopes" | "spec">,
  gateway: CallableGateway | undefined,
  publicUrl: string,
): Html | "" {
  const ways = [
    ...(gateway !== undefined ? gatewayWays(gateway, publicUrl) : []),
    ...(mayUseMemory(key) ? memoryWays(key, publicUrl) : []),
  ];
  if (ways.length === 0) return "";
  return html`<section class="panel narrow" aria-labelledby="next"><h2 id="next">The first call</h2>
<p class="muted">Each reads the key from a variable: <code>read -rs KEYPLANE_API_KEY &amp;&amp; export KEYPLANE_API_KEY</code>, and paste it.</p>
<div class="ways">${ways.map(
    ({ title, code, next }, i) =>
      html`<details name="way"${i === 0 && html` open`}><summary>${title}</summary><div class="stack"><pre id="way-${i}" tabindex="0" aria-label="${title}">${code}</pre>
<p>${next} <button type="button" class="small" data-copy="way-${i}" hidden aria-label="Copy ${title}">Copy</button></p></div></details>`,
  )}</div></section>`;
}

/**
 * True if a first call to the memory can be shown. A key that requires a subject needs a header in each call to name
 * it, which no file can hold.
 */
export function mayUseMemory({ scopes, spec }: Pick<KeyJson, "scopes" | "spec">): boolean {
  return scopes.some((scope) => scope.startsWith("memory:")) && spec.subjectAccess?.mode !== "Required";
}

function gatewayWays({ publicId, dialect, model }: CallableGateway, publicUrl: string): UsageExample[] {
  const base = gatewayUrl(publicUrl, publicId);
  const { path, body, python, typescript } = CALLS[dialect](`${base}${SDK_VARIABLES[dialect].path}`, model);
  const data = `-H 'Content-Type: application/json' \\\n  -d ${shellWord(JSON.stringify(body))}`;
  return [
    {
      title: "curl",
      code: `curl ${BEARER} \\\n  ${data} \\\n  ${shellWord(`${base}${path}`)}`,
      next: "Run it in bash: the answer has the model's text.",
    },
    { title: "SDK, Python", code: python, next: "Save it as call.py, and run python call.py." },
    { title: "SDK, TypeScript", code: typescript, next: "Save it as call.ts, and run node call.ts." },
  ];
}

type Call = {
  readonly path: string;
  readonly body: unknown;
  readonly python: string;
  readonly typescript: string;
};

/**
 * Calls in each dialect, by HTTP and by the official SDKs. JSON is a valid string literal in both languages, whatever
 * the text.
 */
const CALLS: Readonly<Record<Dialect, (baseUrl: string, model: string) => Call>> = {
  openai: (baseUrl, model) => ({
    path: "/v1/chat/completions",
    body: { model, messages: [{ role: "user", content: QUESTION }] },
    python: `import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["KEYPLANE_API_KEY"])
answer = client.chat.completions.create(model=${JSON.stringify(model)}, messages=[{"role": "user", "content": "${QUESTION}"}])
print(answer.choices[0].message.content)`,
    typescript: `import { env } from "node:process";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: env.KEYPLANE_API_KEY });
const messages = [{ role: "user" as const, content: "${QUESTION}" }];
const answer = await client.chat.completions.create({ model: ${JSON.stringify(model)}, messages });
console.log(answer.choices[0]?.message.content);`,
  }),
  anthropic: (baseUrl, model) => ({
    path: "/v1/messages",
    body: { model, max_tokens: 100, messages: [{ role: "user", content: QUESTION }] },
    python: `import os
from anthropic import Anthropic

client = Anthropic(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["KEYPLANE_API_KEY"])
answer = client.messages.create(model=${JSON.stringify(model)}, max_tokens=100, messages=[{"role": "user", "content": "${QUESTION}"}])
print(answer.content[0].text)`,
    typescript: `import { env } from "node:process";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: env.KEYPLANE_API_KEY });
const messages = [{ role: "user" as const, content: "${QUESTION}" }];
const answer = await client.messages.create({ model: ${JSON.stringify(model)}, max_tokens: 100, messages });
console.log(answer.content);`,
  }),
  gemini: (baseUrl, model) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    body: { contents: [{ role: "user", parts: [{ text: QUESTION }] }] },
    python: `import os
from google import genai

client = genai.Client(api_key=os.environ["KEYPLANE_API_KEY"], http_options={"base_url": ${JSON.stringify(baseUrl)}})
answer = client.models.generate_content(model=${JSON.stringify(model)}, contents="${QUESTION}")
print(answer.text)`,
    typescript: `import { env } from "node:process";
import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({ apiKey: env.KEYPLANE_API_KEY, httpOptions: { baseUrl: ${JSON.stringify(baseUrl)} } });
const answer = await client.models.generateContent({ model: ${JSON.stringify(model)}, contents: "${QUESTION}" });
console.log(answer.text);`,
  }),
};

function memoryWays({ scopes }: Pick<KeyJson, "scopes">, publicUrl: string): UsageExample[] {
  const mayRead = scopes.includes("memory:read");
  const url = `${publicUrl}/api/v1/memory/mcp`;
  const server = { type: "http", url, headers: { Authorization: `Bearer \${KEYPLANE_API_KEY}` } };
  return [
    ...(!mayRead || mayCallModels({ scopes })
      ? []
      : [
          {
            title: "curl",
            code: `curl ${BEARER} \\\n  ${shellWord(`${publicUrl}/api/v1/memory/atoms?limit=5`)}`,
            next: "Run it in bash: the answer has the newest atoms.",
          },
        ]),
    {
      title: "MCP",
      code: JSON.stringify({ mcpServers: { memory: server } }, null, 2),
      next: `Save it as .mcp.json where the client runs, and have it call ${
        mayRead ? "memory_recall with what you look for" : "memory_save_atom with what is to be remembered"
      }.`,
    },
  ];
}
