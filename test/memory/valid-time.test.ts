import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { memoryServer } from "./memory-server.ts";

const MARCH = "2025-03-01T00:00:00.000Z";
const MAY = "2025-05-01T00:00:00.000Z";
const OVER = { content: "The price of tea is 10.", validFrom: MARCH, validTo: MAY };
const PRESENT = { content: "The price of tea is 12.", validFrom: MAY };

const opened = memoryServer(memoryRoutes, mcpRoutes);
const call = (method: string, path: string, body?: unknown) => opened().call(method, path, body);
const contentsOf = ({ items }: { items: readonly { content?: string; snippet?: string }[] }) =>
  items.map(({ content, snippet }) => content ?? snippet ?? "");

describe("when a statement is true, over REST", () => {
  test("is saved, corrected, and in the revisions", async () => {
    const { status, json } = await call("POST", "/atoms", OVER);
    expect([status, json]).toEqual([201, expect.objectContaining({ validFrom: MARCH, validTo: MAY })]);
    const { id } = json;
    const corrected = await call("PATCH", "/atoms", { id, revision: 1, validTo: null });
    expect(corrected.json).toMatchObject({ validFrom: MARCH, validTo: null, revision: 2 });
    expect((await call("GET", `/atoms/${id}`)).json).toEqual(corrected.json);
    expect((await call("GET", `/atoms/${id}/revisions`)).json.items).toMatchObject([
      { validFrom: MARCH, validTo: null },
      { validFrom: MARCH, validTo: MAY },
    ]);
    expect((await call("POST", "/atoms", { content: "Nothing is said." })).json).toMatchObject({
      ...{ validFrom: null, validTo: null },
    });
  });

  test("must begin before it ends, and be a time", async () => {
    const { json: atom } = await call("POST", "/atoms", OVER);
    const refusals: readonly (readonly [string, string, object])[] = [
      ["POST", "/atoms", { ...OVER, validTo: MARCH }],
      ["POST", "/atoms", { ...OVER, validTo: "2025-02-30T00:00:00Z" }],
      ["POST", "/atoms", { ...OVER, validTo: "in May" }],
      ["POST", "/atoms/batch", { atoms: [{ ...OVER, validFrom: MAY }] }],
      ["POST", "/atoms/import", { atoms: [PRESENT, { ...OVER, validFrom: MAY }] }],
      ["PATCH", "/atoms", { id: atom.id, revision: 1, validFrom: MAY }],
      ["PATCH", "/atoms", { id: atom.id, revision: 1, validTo: MARCH }],
    ];
    for (const [method, path, body] of refusals) {
      const { status, json } = await call(method, path, body);
      expect([status, json.code], JSON.stringify(body)).toEqual([400, "invalid_request"]);
      expect(json.detail).toContain("validTo");
    }
    expect(
      (await call("POST", "/atoms/import", { atoms: [PRESENT, { ...OVER, validFrom: MAY }] })).json.detail,
    ).toMatch(/^In "atoms.1": /);
    expect((await call("GET", `/atoms/${atom.id}`)).json).toEqual(atom);
  });

  test("narrows lists and searches by asOf, which a cursor belongs to", async () => {
    await call("POST", "/atoms/batch", { atoms: [OVER, PRESENT, { content: "The price of tea is in euros." }] });
    const asOf = `asOf=${MARCH}`;
    const then = ["The price of tea is 10.", "The price of tea is in euros."];
    for (const path of [`/atoms?${asOf}`, `/atoms/search?q=price+of+tea&${asOf}`]) {
      expect(contentsOf((await call("GET", path)).json).toSorted(), path).toEqual(then);
    }
    expect(contentsOf((await call("GET", "/atoms")).json)).toHaveLength(3);
    const { nextCursor } = (await call("GET", `/atoms?${asOf}&limit=1`)).json;
    expect((await call("GET", `/atoms?${asOf}&limit=1&cursor=${nextCursor}`)).json.items).toHaveLength(1);
    expect((await call("GET", `/atoms?limit=1&cursor=${nextCursor}`)).status).toBe(404);
    for (const wrong of ["2025-02-30T00:00:00Z", "today"]) {
      const { status, json } = await call("GET", `/atoms?asOf=${wrong}`);
      expect([status, json.detail]).toEqual([400, expect.stringContaining("asOf")]);
    }
  });

  test("goes with an export, and comes back with its import", async () => {
    await call("POST", "/atoms", OVER);
    const headers = { "x-api-key": opened().key };
    const exported = await fetch(`${opened().server.url}/atoms/export?library=handbook`, { headers });
    const [line = ""] = (await exported.text()).split("\n");
    const { status } = await call("POST", "/atoms/import", { library: "diary", atoms: [JSON.parse(line)] });
    expect(status).toBe(201);
    expect((await call("GET", "/atoms?library=diary")).json.items).toMatchObject([OVER]);
  });
});

describe("when a statement is true, through an MCP client", () => {
  const client = new Client({ name: "a-client", version: "1.0.0" });
  beforeAll(async () => {
    const url = new URL(`${opened().server.url}/api/v1/memory/mcp`);
    const requestInit = { headers: { Authorization: `Bearer ${opened().key}` } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  });
  afterAll(() => client.close());

  async function tool(name: string, args: Record<string, unknown>) {
    const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: args });
    const [first] = content;
    return {
      ...{ isError, text: first?.type === "text" ? first.text : "" },
      // Of any shape, as a program finds it.
      structured: JSON.parse(JSON.stringify(structuredContent ?? {})),
    };
  }

  test("is saved by dates, shown, corrected, and asked for", async () => {
    const saved = await tool("memory_save_atom", { ...OVER, validFrom: "2025-03-01", validTo: "2025-05-01" });
    expect(saved.structured.atom).toMatchObject({ validFrom: MARCH, validTo: MAY });
    expect(saved.text).toContain(`valid until ${MAY}; valid from ${MARCH}`);
    const { id } = saved.structured.atom;
    await tool("memory_save_atom", { atoms: [PRESENT], allowDuplicate: true });
    for (const [asOf, expected] of [
      ["2025-04-01", [OVER.content]],
      ["2025-05-01", [PRESENT.content]],
    ] as const) {
      expect(contentsOf((await tool("memory_list", { asOf })).structured), asOf).toEqual(expected);
      for (const name of ["memory_search", "memory_recall"]) {
        expect(contentsOf((await tool(name, { query: "price of tea", asOf })).structured), name).toEqual(expected);
      }
    }
    for (const name of ["memory_search", "memory_recall"]) {
      const { structured, text } = await tool(name, { query: "price of tea" });
      expect(contentsOf(structured), name).toEqual([PRESENT.content, OVER.content]);
      expect(text).toContain(`valid until ${MAY}`);
    }
    const { structured, isError } = await tool("memory_correct_atom", { id, validTo: null });
    expect([isError, structured.atom.validTo]).toEqual([false, undefined]);
    const refused = await tool("memory_correct_atom", { id, validTo: "2025-03-01" });
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining('"validTo" is not after "validFrom"'),
    });
  });

  test("a session begins without what is over or to come", async () => {
    await tool("memory_save_atom", { ...OVER, importance: 9 });
    await tool("memory_save_atom", { content: "Tea will be free.", validFrom: "2999-01-01", importance: 9 });
    await tool("memory_save_atom", { ...PRESENT, allowDuplicate: true });
    const { structured } = await tool("memory_wake_up", {});
    expect(structured).toMatchObject({ library: { atoms: 3 }, important: [{ content: PRESENT.content }], leftOut: 2 });
    expect(structured).not.toHaveProperty("recent");
  });
});
