/** What calls the installation without end: the vendors' SDKs, and two that write into a library. */
import { setTimeout as delay } from "node:timers/promises";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import OpenAI from "openai";
import { type Calls, type Needs, StatusError } from "./calls.ts";

/** Between two calls of one client, in milliseconds. */
const PAUSE_MS = 200;

export type ClientsOptions = {
  /** Of the Service. */
  readonly url: string;
  readonly calls: Calls;
  /** The keys that their Secrets hold at the moment. */
  readonly gatewayKey: () => string;
  readonly memoryKey: () => string;
  readonly signal: AbortSignal;
};

export const PUBLIC_ID = "e2e-models";
const HELLO = [{ role: "user" as const, content: "hello" }];
/** Of the model stub. */
const ANSWER = "I am a stub";

/** A tool says in words what REST says by 503. */
function toolError(text: string): Error {
  return /The database (does not answer|took too long)|The memory has more to do than it can/.test(text)
    ? new StatusError(503, text)
    : new Error(text);
}

/** @returns the ids of the atoms that were answered with 201, or by the tool that saves them */
export function startClients({ url, calls, gatewayKey, memoryKey, signal }: ClientsOptions): readonly string[] {
  const saved: string[] = [];
  const base = `${url}/g/${PUBLIC_ID}`;

  const clients: Record<string, readonly [Needs, () => Promise<string | undefined>]> = {
    "openai chat": [
      "key index",
      async () => {
        const answer = await openai().chat.completions.create({ model: "fast-chat", messages: HELLO });
        return answer.choices[0]?.message.content ?? "";
      },
    ],
    "openai stream": [
      "key index",
      async () => {
        let text = "";
        const stream = await openai().chat.completions.create({ model: "gpt-x", messages: HELLO, stream: true });
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
        return text;
      },
    ],
    "@google/genai": [
      "key index",
      async () => {
        const gemini = new GoogleGenAI({ apiKey: gatewayKey(), httpOptions: { baseUrl: base } });
        return (await gemini.models.generateContent({ model: "gemini-x", contents: "hello" })).text;
      },
    ],
    "@anthropic-ai/sdk": [
      "key index",
      async () => {
        const anthropic = new Anthropic({ baseURL: base, apiKey: gatewayKey(), maxRetries: 0 });
        const { content } = await anthropic.messages.create({ model: "claude-x", max_tokens: 64, messages: HELLO });
        return content.map((block) => (block.type === "text" ? block.text : "")).join("");
      },
    ],
    "atoms over REST": ["database", saveByRest],
    "atoms over MCP": ["database", saveByMcp],
  };

  // Retries of its own would hide what fails.
  const openai = () => new OpenAI({ baseURL: `${base}/v1`, apiKey: gatewayKey(), maxRetries: 0 });

  async function saveByRest(): Promise<string> {
    const response = await fetch(`${url}/atoms`, {
      method: "POST",
      headers: { authorization: `Bearer ${memoryKey()}`, "content-type": "application/json" },
      body: JSON.stringify({ content: `Saved at ${new Date().toISOString()}.` }),
    });
    const text = await response.text();
    if (response.status !== 201) throw new StatusError(response.status, text);
    saved.push(JSON.parse(text).id);
    return ANSWER;
  }

  async function saveByMcp(): Promise<string> {
    const client = new Client({ name: "e2e", version: "1.0.0" });
    const requestInit = { headers: { Authorization: `Bearer ${memoryKey()}` } };
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/v1/memory/mcp`), { requestInit }));
      const content = `Remembered at ${new Date().toISOString()}.`;
      const {
        isError,
        structuredContent,
        content: said,
      } = await client.callTool({ name: "memory_save_atom", arguments: { content, allowDuplicate: true } });
      if (isError === true) throw toolError(JSON.stringify(said));
      const { atom } = structuredContent as { atom: { id: string } };
      saved.push(atom.id);
      return ANSWER;
    } finally {
      await client.close().catch(() => {});
    }
  }

  async function run(who: string, needs: Needs, call: () => Promise<string | undefined>): Promise<void> {
    while (!signal.aborted) {
      await calls.make(who, needs, async () => {
        const text = await call();
        if (!text?.startsWith(ANSWER)) throw new Error(`answered with ${text}`);
      });
      await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }
  for (const [who, [needs, call]] of Object.entries(clients)) void run(who, needs, call);
  return saved;
}
