import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { memoryServer } from "../memory-server.ts";

const IDENTITY = { name: "a-client", version: "1.0.0" };
const READ_TOOLS = [
  ...["memory_history", "memory_libraries", "memory_list"],
  ...["memory_recall", "memory_search", "memory_wake_up"],
];
const ALL_TOOLS = [...READ_TOOLS, "memory_correct_atom", "memory_forget_atom", "memory_save_atom"].sort();

type ToolResult = {
  isError?: boolean | undefined;
  structuredContent?: Record<string, unknown>;
  content: { type: string; text?: string }[];
};
type Listed = {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  annotations?: Record<string, unknown> | undefined;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown> | undefined;
};
/** What the journeys need of a client, whichever it is. */
type AnyClient = {
  version(): string | undefined;
  listTools(): Promise<Listed[]>;
  callTool(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
};

const opened = memoryServer(mcpRoutes);

/** A client's whole configuration: our URL and the key. */
const configuration = (key: string) =>
  [
    new URL(`${opened().server.url}/api/v1/memory/mcp`),
    { requestInit: { headers: { Authorization: `Bearer ${key}` } } },
  ] as const;

async function connectSdk(key: string): Promise<AnyClient> {
  const client = new LegacyClient(IDENTITY);
  const transport = new LegacyTransport(...configuration(key));
  await client.connect(transport);
  return {
    version: () => transport.protocolVersion,
    listTools: async () => (await client.listTools()).tools as Listed[],
    callTool: async (name, args) => (await client.callTool({ name, arguments: args })) as ToolResult,
    close: () => client.close(),
  };
}

async function connectModern(key: string, mode: "legacy" | "auto" | { pin: string }): Promise<AnyClient> {
  const client = new ModernClient(IDENTITY, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(...configuration(key)));
  return {
    version: () => client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools as Listed[],
    callTool: async (name, args) => (await client.callTool({ name, arguments: args })) as ToolResult,
    close: () => client.close(),
  };
}

const DOES_ALL = ["sdk 1.x", "client 2.x by itself"];

describe.each<[string, (key: string) => Promise<AnyClient>, string]>([
  ["sdk 1.x", connectSdk, "2025-11-25"],
  ["client 2.x by initialize", (key) => connectModern(key, "legacy"), "2025-11-25"],
  ["client 2.x by itself", (key) => connectModern(key, "auto"), "2026-07-28"],
  ["client 2.x of 2026-07-28", (key) => connectModern(key, { pin: "2026-07-28" }), "2026-07-28"],
])("an unmodified MCP client: %s", (name, connect, version) => {
  test("connects with nothing but URL and key, and is shown every tool", async () => {
    const client = await connect(opened().server.addKey({ teamDefaultLibraryId: "lib-handbook" }));
    expect(client.version()).toBe(version);
    expect((await client.listTools()).map(({ name }) => name).sort()).toEqual(ALL_TOOLS);
    const saved = await client.callTool("memory_save_atom", { content: "Deployments roll out on Tuesdays." });
    expect(saved.structuredContent).toMatchObject({ atom: { library: "handbook" } });
    await client.close();
  });

  test("goes on after a tool that it may not call", async () => {
    const client = await connect(
      opened().server.addKey({ scopes: scopeSet(["memory:read"]), teamDefaultLibraryId: "lib-handbook" }),
    );
    await expect(client.callTool("memory_save_atom", { content: "x" })).rejects.toThrow();
    expect(await client.callTool("memory_list", {})).toMatchObject({
      structuredContent: { note: "There are no such atoms." },
    });
    await client.close();
  });

  test("is not let in without a good key", async () => {
    await expect(connect("inf_not_a_key")).rejects.toThrow();
  });

  /** By day one client of each era does all there is. */
  if (!NIGHTLY && !DOES_ALL.includes(name)) return;

  test("calls every tool", async () => {
    const client = await connect(opened().server.addKey({ teamDefaultLibraryId: "lib-handbook" }));
    const call = async (name: string, args: Record<string, unknown> = {}) => {
      const result = await client.callTool(name, args);
      expect(result, JSON.stringify(result.content)).not.toMatchObject({ isError: true });
      expect(result.content[0]?.text).toBeTruthy();
      return result.structuredContent ?? {};
    };
    const saved = await call("memory_save_atom", {
      content: "Deployments roll out on Tuesdays.",
      tags: ["ops"],
      importance: 8,
    });
    const { id } = saved.atom as { id: string };
    expect(saved.atom).toMatchObject({ library: "handbook", revision: 1, importance: 8 });
    const corrected = await call("memory_correct_atom", {
      id,
      revision: 1,
      content: "Deployments roll out on Mondays.",
    });
    expect(corrected.atom).toMatchObject({ id, revision: 2, tags: ["ops"] });
    const found = { id, content: "Deployments roll out on Mondays.", tags: ["ops"] };
    expect(await call("memory_search", { query: "deployment", tags: ["ops"] })).toMatchObject({
      items: [{ id, snippet: "Deployments roll out on Mondays.", tags: ["ops"], importance: 8 }],
    });
    expect(await call("memory_recall", { query: "when is the next deployment" })).toMatchObject({
      items: [{ id, content: "Deployments roll out on Mondays." }],
    });
    expect(await call("memory_recall", { ids: [id, "nothing"] })).toMatchObject({
      items: [found],
      missing: ["nothing"],
    });
    expect(await call("memory_list", { tag: "ops" })).toMatchObject({ items: [found] });
    expect(await call("memory_wake_up")).toMatchObject({
      library: { name: "handbook", description: "What handbook is for.", atoms: 1 },
      important: [{ id, content: "Deployments roll out on Mondays." }],
    });
    expect(await call("memory_history", { id })).toMatchObject({ items: [{ revision: 2 }, { revision: 1 }] });
    const { items } = await call("memory_libraries");
    expect(items).toContainEqual(expect.objectContaining({ name: "handbook", isDefault: true }));
    expect(await call("memory_forget_atom", { id })).toEqual({ forgotten: id, keptUntil: expect.any(String) });
    expect(await call("memory_forget_atom", { id, now: true })).toEqual({ forgotten: id });
    expect(await call("memory_list")).toEqual({ note: "There are no such atoms.", items: [] });
    await client.close();
  });

  test("reads the neighbours of an atom, what has a value of metadata, and all libraries", async () => {
    const client = await connect(opened().server.addKey());
    const call = async (name: string, args: Record<string, unknown> = {}) => {
      const result = await client.callTool(name, args);
      expect(result, JSON.stringify(result.content)).not.toMatchObject({ isError: true });
      return result.structuredContent ?? {};
    };
    const save = async (args: Record<string, unknown>) =>
      ((await call("memory_save_atom", args)).atom as { id: string }).id;
    const old = await save({ content: "The kettle is old.", library: "handbook", metadata: { ticket: 7 } });
    const links = [{ rel: "explains", id: old }];
    const why = await save({ content: "It was a present.", library: "diary", links });
    expect(await call("memory_recall", { id: old })).toMatchObject({
      items: [{ id: old, library: "handbook" }],
      neighbours: [{ id: why, library: "diary", relations: [{ rel: "explains", direction: "in" }] }],
    });
    expect(await call("memory_list", { metadata: { ticket: 7 } })).toMatchObject({ items: [{ id: old }] });
    expect((await call("memory_list")).items).toHaveLength(2);
    expect(await call("memory_list", { library: "diary" })).toMatchObject({ items: [{ id: why }] });
    await client.close();
  });

  test("saves what replaces an atom, and is shown which is present", async () => {
    const client = await connect(opened().server.addKey({ teamDefaultLibraryId: "lib-handbook" }));
    const call = async (name: string, args: Record<string, unknown> = {}) => {
      const { structuredContent = {}, content } = await client.callTool(name, args);
      return { ...structuredContent, text: content[0]?.text ?? "" } as Record<string, unknown> & { text: string };
    };
    const save = async (content: string, more: object = {}) => {
      const { atom } = await call("memory_save_atom", { content, ...more });
      return (atom as { id: string }).id;
    };
    const old = await save("The staging database is on host tern.", { importance: 10 });
    const by = await save("Kestrel has the staging database now.", { links: [{ rel: "replaces", id: old }] });
    for (const [name, args] of [
      ["memory_search", { query: "staging database" }],
      ["memory_search", { query: "staging database", sort: "newest" }],
      ["memory_recall", { query: "host of the staging database" }],
      ["memory_recall", { ids: [by, old] }],
    ] as const) {
      const { items, text } = await call(name, args);
      expect(items, name).toEqual([
        expect.not.objectContaining({ replacedBy: expect.anything() }),
        expect.objectContaining({ id: old, replacedBy: by }),
      ]);
      expect(text).toContain(`replaced by ${by}`);
    }
    expect(await call("memory_recall", { id: old, offset: 4 })).toMatchObject({ items: [{ id: old, replacedBy: by }] });
    const briefing = await call("memory_wake_up");
    expect(briefing).toMatchObject({ important: [{ id: by }], leftOut: 1 });
    expect(briefing.text).not.toContain("tern");
    await client.close();
  });

  test("sees the tools that its key may call, each with all that a model needs", async () => {
    const client = await connect(opened().server.addKey({ scopes: scopeSet(["memory:read"]) }));
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(READ_TOOLS);
    for (const tool of tools) {
      expect(tool.title).toBeTruthy();
      expect(tool.description).toMatch(/use it|call it|Use it/i);
      expect(tool.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false });
      for (const schema of [tool.inputSchema, tool.outputSchema ?? {}]) {
        expect(schema.type).toBe("object");
        expect(() => new Ajv({ strict: true, allowUnionTypes: true }).compile(schema)).not.toThrow();
      }
    }
    await client.close();
  });
});
