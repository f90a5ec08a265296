/** What other tenants do meanwhile, at a modest pace: none of their calls may fail. */
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Report } from "../../oracle/report.ts";
import { GATEWAYS, LIBRARY, MODEL, SEARCH_WORDS } from "./tenants.ts";

/** Generous: a call that takes as long has failed for any client. */
const TIMEOUT_MS = 30_000;
/** An idle connection is not used again after that: the server may be about to close it. */
const KEEP_ALIVE_MS = 1_000;

type Call = {
  readonly what: string;
  readonly everyMs: number;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly accept?: string;
  readonly body?: unknown;
  readonly expected: number;
};

const CHAT = { model: MODEL, messages: [{ role: "user", content: "Hello" }] };
const MCP_LIST = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "memory_list", arguments: { library: LIBRARY } },
};
const routes = `/g/${GATEWAYS.others.routes}/v1/chat/completions`;
const plain = `/g/${GATEWAYS.others.plain}/v1/chat/completions`;
const search = `/atoms/search?q=${encodeURIComponent(SEARCH_WORDS.slice(0, 12))}`;
const atom = { content: "What another tenant wants to remember.", library: LIBRARY };
const STREAM = "text/event-stream";
const BOTH = "application/json, text/event-stream";

const CALLS: readonly Call[] = [
  { what: "gateway", everyMs: 50, method: "POST", path: routes, body: CHAT, expected: 200 },
  { what: "gateway, streams", everyMs: 100, method: "POST", path: plain, accept: STREAM, body: CHAT, expected: 200 },
  { what: "GET /atoms", everyMs: 100, method: "GET", path: "/atoms?limit=20", expected: 200 },
  { what: "GET /atoms/search", everyMs: 250, method: "GET", path: search, expected: 200 },
  { what: "POST /atoms", everyMs: 250, method: "POST", path: "/atoms", body: atom, expected: 201 },
  {
    what: "MCP",
    everyMs: 200,
    method: "POST",
    path: "/api/v1/memory/mcp",
    accept: BOTH,
    body: MCP_LIST,
    expected: 200,
  },
];

export type Phase = "before" | "during" | "after";
/** One call: how long it took in milliseconds, and whether it failed. */
export type Sample = { readonly what: string; readonly phase: Phase; readonly ms: number; readonly failed: boolean };

export type OtherTenants = {
  readonly samples: readonly Sample[];
  enter(phase: Phase): void;
  /** Resolves once the last call is answered. */
  stop(): Promise<void>;
};

export function startOtherTenants(
  replicas: readonly { readonly name: string; readonly url: string }[],
  key: string,
  report: Report,
): OtherTenants {
  const agent = new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, connect: { timeout: TIMEOUT_MS } });
  const over = new AbortController();
  const samples: Sample[] = [];
  let phase: Phase = "before";

  async function once(replica: string, url: string, call: Call): Promise<void> {
    const [began, at] = [phase, performance.now()];
    const wrong = await ask(url, call);
    const ms = performance.now() - at;
    samples.push({ what: call.what, phase: began, ms, failed: wrong !== undefined });
    if (wrong === undefined) return;
    report.violation({
      rule: "others",
      subject: `${call.what} on ${replica}`,
      what: `${wrong} after ${Math.round(ms)} ms`,
    });
  }

  /** What was wrong with the answer; undefined where it was as it should be. */
  async function ask(url: string, { method, path, accept, body, expected }: Call): Promise<string | undefined> {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(accept === undefined ? {} : { accept }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    try {
      const answer = await request(url + path, {
        dispatcher: agent,
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await answer.body.text();
      if (answer.statusCode !== expected) return `${answer.statusCode} ${text.slice(0, 120)}`;
      return text.includes('"isError":true') ? `an error of the tool: ${text.slice(0, 200)}` : undefined;
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : "broken";
    }
  }

  const loops = replicas.flatMap(({ name, url }) =>
    CALLS.map(async (call) => {
      while (!over.signal.aborted) {
        await once(name, url, call);
        await delay(call.everyMs, undefined, { signal: over.signal }).catch(() => {});
      }
    }),
  );
  return {
    samples,
    enter(next) {
      phase = next;
    },
    async stop() {
      over.abort();
      await Promise.all(loops);
      await agent.close();
    },
  };
}
