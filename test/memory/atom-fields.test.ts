import { describe, expect, test } from "vitest";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { callTool, type ToolResult } from "./mcp/tool-calls.ts";
import { memoryServer } from "./memory-server.ts";

const MANY = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 1]));
const LINK = { rel: "r", id: "00000000-0000-7000-8000-000000000000" };

describe("metadata, links and expiry, over REST and MCP", () => {
  const opened = memoryServer(memoryRoutes, mcpRoutes);

  const tool = (name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResult> =>
    callTool(opened().server, opened().key, name, args);

  test("an atom has what was given, over both, and a correction of one field leaves the others", async () => {
    const linked = (await opened().call("POST", "/atoms", { content: "The old port is 80." })).json;
    const fields = {
      metadata: { pr: 12, merged: true, "a key": "😀 text" },
      links: [{ rel: "replaces", id: linked.id }],
      expiresAt: "2999-01-31T01:00:00+01:00",
    };
    const shown = {
      metadata: { pr: 12, merged: true, "a key": "😀 text" },
      links: fields.links,
      expiresAt: "2999-01-31T00:00:00.000Z",
    };
    const { status, json } = await opened().call("POST", "/atoms", { content: "The port is 8080.", ...fields });
    expect(status).toBe(201);
    expect(json).toMatchObject(shown);
    expect((await opened().call("GET", `/atoms/${json.id}`)).json).toEqual(json);
    const change = { id: json.id, revision: 1, metadata: { pr: 13 } };
    expect((await opened().call("PATCH", "/atoms", change)).json).toMatchObject({ ...shown, metadata: { pr: 13 } });
    const saved = await tool("memory_save_atom", { content: "The port is 9090.", ...fields });
    expect(saved.structured.atom).toMatchObject(shown);
    expect(saved.text).toContain("merged: true");
    expect(saved.text).toContain(`replaces ${linked.id}`);
    const { structured } = await tool("memory_correct_atom", { id: saved.structured.atom.id, expiresAt: null });
    const { expiresAt: _never, ...others } = shown;
    expect(structured.atom).toMatchObject(others);
    expect(structured.atom).not.toHaveProperty("expiresAt");
    const history = await tool("memory_history", { id: json.id });
    expect(history.structured.items).toMatchObject([{ metadata: { pr: 13 } }, shown]);
  });

  test("b286: an atom that says nothing is refused, new or corrected, and a correction of other fields is none", async () => {
    const nothing = '"content" says nothing';
    for (const content of [" ", "\n\t \u00a0\u3000"]) {
      const made = await opened().call("POST", "/atoms", { content });
      expect([made.status, made.json.detail]).toEqual([400, expect.stringContaining(nothing)]);
      expect(await tool("memory_save_atom", { content })).toMatchObject({
        isError: true,
        text: expect.stringContaining(nothing),
      });
    }
    const { id } = (await opened().call("POST", "/atoms", { content: "." })).json;
    const corrected = await opened().call("PATCH", "/atoms", { id, revision: 1, content: "  " });
    expect([corrected.status, corrected.json.detail]).toEqual([400, expect.stringContaining(nothing)]);
    expect((await opened().call("PATCH", "/atoms", { id, revision: 1, importance: 6 })).status).toBe(200);
  });

  test("b296: an atom of characters that are never seen says nothing either", async () => {
    for (const content of ["\u200b", "\ufeff\u2060 \u00ad", "\u3164\u2800", "\u0007\u200d"]) {
      const { status, json } = await opened().call("POST", "/atoms", { content });
      expect
        .soft([content, status, json.detail])
        .toEqual([content, 400, expect.stringContaining('"content" says nothing')]);
    }
    for (const content of ["\u2764\ufe0f", "\u0646\u200c\u0645"])
      expect.soft((await opened().call("POST", "/atoms", { content })).status).toBe(201);
  });

  test.each<[string, unknown, string]>([
    ["metadata that is no object", { metadata: [] }, '"metadata" must be object'],
    ["metadata in depth", { metadata: { a: { b: 1 } } }, '"metadata.a" must be string or number or boolean'],
    ["a null in metadata", { metadata: { a: null } }, '"metadata.a" must be string or number or boolean'],
    ["17 names of metadata", { metadata: MANY }, '"metadata" must NOT have more than 16 properties'],
    [
      "a long name in metadata",
      { metadata: { ["n".repeat(65)]: 1 } },
      '"metadata" has a name in it that must NOT have',
    ],
    ["an empty name in metadata", { metadata: { "": 1 } }, '"metadata" has a name in it that must NOT have fewer'],
    ["a NUL in metadata", { metadata: { a: "\u0000" } }, "NUL"],
    ["half a character in the content", { content: "x\ud800y" }, "half of a surrogate pair"],
    ["half a character in a tag", { tags: ["\udc00"] }, "half of a surrogate pair"],
    ["half a character in the source", { source: "\ud83d" }, "half of a surrogate pair"],
    ["half a character in metadata", { metadata: { a: "\ud800" } }, "half of a surrogate pair"],
    ["half a character in a name of metadata", { metadata: { "\ud800": 1 } }, "half of a surrogate pair"],
    ["half a character in a link", { links: [{ ...LINK, rel: "\ud800" }] }, "half of a surrogate pair"],
    [
      "a number that changes",
      { metadata: { id: 2 ** 53 } },
      '"metadata.id" is more than 9007199254740991: write it as',
    ],
    ["a negative one", { metadata: { id: -(2 ** 53) } }, '"metadata.id" is less than -9007199254740991: write it as'],
    ["a NUL in a name of metadata", { metadata: { "\u0000": 1 } }, "NUL"],
    [
      "5 KiB of metadata",
      { metadata: { a: "x".repeat(4_000), b: "x".repeat(1_000) } },
      '"metadata" has more than 4096',
    ],
    ["links that are no list", { links: LINK }, '"links" must be array'],
    ["a link without rel", { links: [{ id: LINK.id }] }, 'lacks "rel"'],
    ["a link with more", { links: [{ ...LINK, to: 1 }] }, 'unknown field "to"'],
    ["a link twice", { links: [LINK, LINK] }, "twice"],
    ["33 links", { links: Array.from({ length: 33 }, (_, i) => ({ ...LINK, rel: `${i}` })) }, "32"],
    ["a link to nothing", { links: [LINK] }, '"links.0.id" names no atom'],
    ["a link to what is no id", { links: [{ rel: "r", id: "x" }] }, '"links.0.id" names no atom'],
    ["an expiry in minute 60", { expiresAt: "2999-01-01T00:60:00Z" }, '"expiresAt" is no time: write it as RFC 3339'],
    ["an expiry in words", { expiresAt: "tomorrow" }, '"expiresAt" is no time: write it as RFC 3339'],
    ["an expiry in hour 24", { expiresAt: "2999-01-01T24:00:00Z" }, '"expiresAt" is no time: write it as RFC 3339'],
    ["an expiry on no day", { expiresAt: "2999-13-01T00:00:00Z" }, '"expiresAt" is no time'],
    ["an expiry in the past", { expiresAt: "2026-01-01T00:00:00Z" }, '"expiresAt" is over'],
    ["a number for expiry", { expiresAt: 5 }, '"expiresAt" must be string or null'],
  ])("%s is refused by its name, and nothing is saved", async (_what, fields, why) => {
    const input = { content: "x", ...(fields as object) };
    const { status, json } = await opened().call("POST", "/atoms", input);
    expect([status, json.detail]).toEqual([400, expect.stringContaining(why)]);
    const saved = await tool("memory_save_atom", input);
    expect(saved).toMatchObject({ isError: true, text: expect.stringContaining(why) });
    expect((await opened().call("GET", "/atoms")).json.items).toEqual([]);
  });

  test("a time may have the small letters that RFC 3339 admits", async () => {
    const { status, json } = await opened().call("POST", "/atoms", { content: "x", expiresAt: "2999-01-31t10:00:00z" });
    expect([status, json.expiresAt]).toEqual([201, "2999-01-31T10:00:00.000Z"]);
  });

  test("the presented key is not repeated where it was sent as a name of metadata", async () => {
    const { key } = opened();
    for (const value of [{}, null]) {
      const { status, json } = await opened().call("POST", "/atoms", { content: "x", metadata: { [key]: value } });
      expect(status).toBe(400);
      expect(JSON.stringify(json)).not.toContain(key.slice(12));
    }
  });
});
