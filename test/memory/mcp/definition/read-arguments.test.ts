/** What is meant by arguments that break their schema, and what is not; the tools themselves are in lenient-arguments.test.ts. */
import { expect, test } from "vitest";
import { readArguments } from "../../../../memory/mcp/definition/lenient-arguments.ts";
import { LIST_LIMIT, type ToolContext } from "../../../../memory/mcp/definition/tool.ts";
import { TOOLS } from "../../../../memory/mcp/protocol/server.ts";
import {
  ATOM_INPUT,
  atomListSchema,
  CURSOR,
  FILTERS,
  LIBRARY,
  QUERY_TEXT,
  SORT,
} from "../../../../memory/request/schemas.ts";

const SCHEMA = {
  type: "object",
  required: ["query"],
  properties: {
    ...ATOM_INPUT,
    since: FILTERS.since,
    ...{ query: QUERY_TEXT, library: LIBRARY, limit: LIST_LIMIT, sort: SORT, cursor: CURSOR },
    atoms: atomListSchema(3),
    allowDuplicate: { type: "boolean" },
  },
};

test.each<[string, object, object]>([
  ["a list as JSON text", { tags: ' ["a", "b"]\n' }, { tags: ["a", "b"] }],
  ["an empty list as JSON text", { tags: "[]" }, { tags: [] }],
  ["a boolean in quotes", { allowDuplicate: "true" }, { allowDuplicate: true }],
  ["another boolean in quotes", { allowDuplicate: "false" }, { allowDuplicate: false }],
  ["one text for a list", { tags: "a" }, { tags: ["a"] }],
  ["an object as JSON text", { metadata: '{"a": "[1]"}' }, { metadata: { a: "[1]" } }],
  ["links as JSON text", { links: '[{"rel": "a", "id": "b"}]' }, { links: [{ rel: "a", id: "b" }] }],
  [
    "lists within a list, all of it as JSON text",
    { atoms: '[{"content": "[1]", "tags": "[\\"a\\"]", "importance": "7", "library": null, "source": null}]' },
    { atoms: [{ content: "[1]", tags: ["a"], importance: 7, library: null, source: null }] },
  ],
  [
    "null for what may be left out",
    { library: null, limit: null, sort: null, tags: null, metadata: null, since: null, allowDuplicate: null },
    {},
  ],
  [
    "empty text for what may be left out",
    { library: "", limit: "", sort: "", tags: "", metadata: "", since: "", allowDuplicate: "", cursor: "", source: "" },
    {},
  ],
  ["null where it has a meaning", { source: null, expiresAt: null }, { source: null, expiresAt: null }],
  ["null and empty text within a list", { atoms: [{ content: "", tags: null }] }, { atoms: [{ content: "" }] }],
  ["another name that is empty", { q: null, text: "" }, {}],
  [
    "what n8n adds",
    { toolCallId: "call_1", sessionId: "s", action: "sendMessage", chatInput: "hi", tool: { name: "memory_search" } },
    {},
  ],
])("%s is meant", (_what, written, meant) => {
  expect(readArguments({ query: "tea", ...written }, SCHEMA)).toEqual({ args: { query: "tea", ...meant }, notes: [] });
});

test("b83: what is read of a call's texts is bounded for all of them together", () => {
  const links = `[${'"remembered",'.repeat(2_000)}"a"]`;
  const written = { query: "tea", atoms: Array.from({ length: 14 }, () => ({ content: "a", links })) };
  const read = readArguments(written, SCHEMA);
  const { atoms } = (read as { args: { atoms: readonly { links: unknown }[] } }).args;
  expect(atoms.map((atom) => Array.isArray(atom.links))).toEqual([true, true, ...Array(12).fill(false)]);
});

test.each<[string, object]>([
  ["what is required", { query: "" }],
  ["null for what is required", { query: null }],
  ["a list in single quotes", { tags: "['a', 'b']" }],
  ["half a list", { tags: '["a", "b' }],
  ["a list that no body may have", { links: '[{"rel": "a", "id": "b", "id": "c"}]' }],
  ["an object that no body may have", { metadata: '{"__proto__": "a"}' }],
  ["a list beyond the bounds of a body", { tags: `[${"[],".repeat(10_000)}[]]` }],
  ["a list of more text than is read of a call", { tags: `[${'"remembered",'.repeat(6_000)}"a"]` }],
  ["an object for a list", { atoms: '{"content": "a"}' }],
  ["a list for an object", { metadata: '["a"]' }],
  ["a text for an object", { metadata: "a" }],
  ["null within metadata", { metadata: { a: null } }],
  ["what no argument is called", { limt: null, constructor: "" }],
  ["what n8n adds, within a list", { atoms: [{ content: "a", tool: "x" }] }],
])("%s stays as it is", (_what, written) => {
  const args = { query: "tea", ...written };
  expect(readArguments(args, SCHEMA)).toEqual({ args, notes: [] });
});

/** What a tool says of arguments, before it looks at anything else. */
async function faultOf(name: string, args: object): Promise<string> {
  const tool = TOOLS.get(name);
  if (tool === undefined) throw new Error("no such tool");
  return tool.call({ clock: { now: () => 0 } } as ToolContext, args).then(
    () => "",
    ({ message }) => message,
  );
}

test.each<[string, object, string]>([
  ["memory_save_atom", { content: "a", tags: "['a']" }, `memory_save_atom's "tags" must be array.`],
  ["memory_correct_atom", { id: "a", links: "[1" }, `"links" must be array.`],
  ["memory_list", { anyTags: "[1, 2]" }, '"anyTags.0" must be string'],
  ["memory_search", { query: null, limit: null }, '"query" must be string'],
  ["memory_search", { q: "" }, 'lacks "query"'],
  ["memory_search", { query: "a", limt: 1, sessionId: "s" }, 'unknown field "limt". Did you mean "limit"?'],
  ["memory_save_atom", { content: "", atoms: null }, 'lacks "content"'],
  ["memory_save_atom", { atoms: [{ content: "a" }], source: "b" }, 'takes "source" within each'],
  ["memory_correct_atom", { id: "a", tags: null, content: "" }, "Give at least one of content"],
])("%s of %j says what is wrong", async (name, args, fault) => {
  expect(await faultOf(name, args)).toContain(fault);
});
