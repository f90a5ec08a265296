import { beforeEach, expect, test } from "vitest";
import { TOOLS } from "../../../../memory/mcp/protocol/server.ts";
import { mcpRoutes } from "../../../../memory/mcp/routes.ts";
import { estimateTokens } from "../../../../memory/rules/token-estimate.ts";
import { memoryServer } from "../../memory-server.ts";
import { callTool } from "../tool-calls.ts";

const opened = memoryServer(mcpRoutes);
const call = (name: string, args: Readonly<Record<string, unknown>>) =>
  callTool(opened().server, opened().key, name, args);

beforeEach(async () => {
  for (const [content, tags] of [
    ["The harbour opens at noon.", ["port", "hours"]],
    ["The harbour closes at six.", ["port"]],
  ] as const) {
    expect(await call("memory_save_atom", { content, tags })).toMatchObject({ isError: false });
  }
});

test.each<[string, string, object, object]>([
  ["q for query", "memory_search", { q: "noon" }, { query: "noon" }],
  ["text for query", "memory_search", { text: "noon" }, { query: "noon" }],
  ["q for a topic", "memory_recall", { q: "noon" }, { query: "noon" }],
  ["one tag for a list", "memory_search", { query: "harbour", tags: "hours" }, { query: "harbour", tags: ["hours"] }],
  ["one tag of any", "memory_list", { anyTags: "hours" }, { anyTags: ["hours"] }],
  ["one exclusion", "memory_search", { query: "harbour", exclude: "six" }, { query: "harbour", exclude: ["six"] }],
  ["a number in quotes", "memory_list", { limit: "1" }, { limit: 1 }],
  ["a fraction in quotes", "memory_list", { importance: "4.5" }, { importance: 4.5 }],
  ["a date without a time", "memory_list", { since: "2026-01-01" }, { since: "2026-01-01T00:00:00Z" }],
  ["a date that is over", "memory_list", { until: "2026-01-01" }, { until: "2026-01-01T00:00:00Z" }],
])("%s is taken for what it means", async (_what, name, written, meant) => {
  expect(await call(name, { ...written })).toEqual(await call(name, { ...meant }));
});

test("what is saved is taken as it is meant, alone and of several", async () => {
  const fields = { tags: "ops", importance: "7", expiresAt: "2999-01-31" };
  const one = await call("memory_save_atom", { content: "The crane is broken.", ...fields });
  const shown = { tags: ["ops"], importance: 7, expiresAt: "2999-01-31T00:00:00.000Z" };
  expect(one.structured.atom).toMatchObject(shown);
  const { id } = one.structured.atom;
  const several = await call("memory_save_atom", { atoms: [{ content: "The quay is wet.", ...fields }] });
  const ids = several.structured.atoms.map((atom: { id: string }) => atom.id);
  expect((await call("memory_recall", { ids })).structured.items).toMatchObject([shown]);
  const corrected = await call("memory_correct_atom", { id, revision: "1", tags: "port" });
  expect(corrected.structured.atom).toMatchObject({ revision: 2, tags: ["port"] });
});

test("what a client fills in is taken by each tool as it is meant, and null keeps its meaning", async () => {
  const n8n = { toolCallId: "call_1", sessionId: "s", action: "sendMessage", chatInput: "hi", tool: "x" };
  const none = { content: null, tags: null, source: null, metadata: "", links: "", expiresAt: null, validTo: null };
  const atoms = JSON.stringify([{ content: "The quay is wet.", tags: '["deploy","policy"]', source: "the log" }]);
  const saved = await call("memory_save_atom", { atoms, ...none, library: "", allowDuplicate: null, ...n8n });
  const [{ id }] = saved.structured.atoms;
  const recall = async () => {
    const rest = { query: null, id: "", offset: null, cursor: "" };
    return (await call("memory_recall", { ids: `["${id}"]`, ...rest })).structured.items[0];
  };
  expect(await recall()).toMatchObject({ tags: ["deploy", "policy"], source: "the log" });
  const empty = { ...none, source: "", revision: "", validFrom: null };
  await call("memory_correct_atom", { id, ...empty, importance: 7 });
  expect(await recall()).toMatchObject({ tags: ["deploy", "policy"], source: "the log", importance: 7 });
  await call("memory_correct_atom", { id, source: null, tags: "[]" });
  const { tags, source } = await recall();
  expect([tags, source]).toEqual([undefined, undefined]);
  const asked = { query: "quay", library: "", limit: null, tags: "", since: "", cursor: "", sort: null, ...n8n };
  expect((await call("memory_search", asked)).structured.items).toMatchObject([{ id }]);
});

test("a bound that is too large is the largest, which the answer says, within its tokens", async () => {
  for (const [args, note] of [
    [{ limit: 500 }, "limit is at most 100, which was taken."],
    [{ limit: "1000000" }, "limit is at most 100, which was taken."],
    [{ maxTokens: 50_000 }, "maxTokens is at most 20000, which was taken."],
    [{ limit: 101, maxTokens: 200 }, "limit is at most 100, which was taken."],
  ] as const) {
    for (const [name, more] of [
      ["memory_search", { query: "harbour" }],
      ["memory_recall", { query: "harbour" }],
      ["memory_wake_up", {}],
      ["memory_list", {}],
      ["memory_libraries", {}],
    ] as const) {
      const { structured, text, isError } = await call(name, { ...more, ...args });
      expect(isError, text).toBe(false);
      expect(structured.note, name).toContain(note);
      expect(text, name).toContain(note);
      const most = args.maxTokens === 200 ? 200 : 20_000;
      expect(estimateTokens(JSON.stringify(structured)), name).toBeLessThanOrEqual(most);
      expect(estimateTokens(text), name).toBeLessThanOrEqual(most);
    }
  }
  const both = await call("memory_search", { query: "xylophone", limit: 500 });
  expect(both.structured.note).toMatch(/^limit is at most 100, which was taken\. None of the 2 atoms/);
});

test.each<[string, string, object, string]>([
  ["q beside query", "memory_search", { query: "a", q: "b" }, '"query" and "q" are the same: give query alone.'],
  ["text beside q", "memory_search", { q: "a", text: "a" }, '"q" and "text" are the same: give query alone.'],
  ["a word for a number", "memory_list", { limit: "ten" }, '"limit" must be integer'],
  ["a limit below the least", "memory_list", { limit: 0 }, '"limit" must be >= 1'],
  ["a day that there is not", "memory_list", { since: "2026-02-30" }, '"since" is no time'],
  ["a day in words", "memory_list", { since: "yesterday" }, '"since"'],
  ["tags in one text with a list in it", "memory_list", { tags: [["a"]] }, '"tags.0" must be string'],
  ["a list that is no list of texts", "memory_save_atom", { atoms: "x" }, '"atoms" must be array'],
  ["q where nothing is asked for", "memory_list", { q: "a" }, "unknown field"],
  ["a name that all objects have", "memory_search", { query: "a", toString: "b" }, "unknown field"],
])("%s is a fault that says so", async (_what, name, args, fault) => {
  expect(await call(name, { ...args })).toMatchObject({ isError: true, text: expect.stringContaining(fault) });
});

test("none of this is listed: the schemas name one way to say each thing", () => {
  for (const { definition } of TOOLS.values()) {
    const { properties = {}, additionalProperties } = definition.inputSchema;
    expect(additionalProperties).toBe(false);
    for (const alias of ["q", "text"]) expect(properties).not.toHaveProperty(alias);
    const types = JSON.stringify(properties).match(/"type":\[/g);
    expect(types).toBeNull();
  }
});
