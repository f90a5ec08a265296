import { beforeEach, expect, test } from "vitest";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryServer } from "../memory-server.ts";
import { callTool } from "./tool-calls.ts";

const opened = memoryServer(mcpRoutes);
const call = (as: string, name: string, args: Readonly<Record<string, unknown>> = {}) =>
  callTool(opened().server, as, name, args);

const QUESTIONS = [
  ["memory_search", { query: "kettle" }],
  ["memory_recall", { query: "the kettle" }],
  ["memory_list", {}],
  ["memory_wake_up", {}],
] as const;

/** Of each atom that an answer shows its content and its library. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into as JavaScript is, by many shapes.
function shownIn({ items, important = [], recent = [] }: any): unknown[] {
  const atoms: { library?: string; content?: string; snippet?: string }[] = items ?? [...important, ...recent];
  return atoms.map((atom) => [(atom.content ?? atom.snippet ?? "").replaceAll("*", ""), atom.library]).sort();
}

let bare: string;
beforeEach(async () => {
  bare = opened().server.addKey();
  for (const library of ["handbook", "diary", "a-prod/ops"]) {
    await call(bare, "memory_save_atom", { content: `The kettle of ${library}.`, library });
  }
});

test("without a default library a tool that reads reads all that the key may reach, and names each atom's", async () => {
  const all = [
    ["The kettle of a-prod/ops.", "a-prod/ops"],
    ["The kettle of diary.", "diary"],
    ["The kettle of handbook.", "handbook"],
  ];
  const diaryOnly = opened().server.addKey({ libraryIds: ["lib-diary"] });
  const unreachable = opened().server.addKey({ libraryIds: ["lib-diary"], teamDefaultLibraryId: "lib-handbook" });
  for (const [name, args] of QUESTIONS) {
    const { structured, text } = await call(bare, name, args);
    expect(shownIn(structured), name).toEqual(all);
    for (const [content, library] of all) expect(text).toMatch(new RegExp(`${content}\n\\(id.*library ${library}`));
    for (const key of [diaryOnly, unreachable]) {
      expect(shownIn((await call(key, name, args)).structured), name).toEqual([["The kettle of diary.", "diary"]]);
    }
  }
  const { structured } = await call(bare, "memory_wake_up");
  expect(structured.library).toEqual({ name: "*", displayName: "all libraries", atoms: 3 });
});

test('with a default library that one is meant, and all by "*", each atom with its library but those of the default', async () => {
  for (const [name, args] of QUESTIONS) {
    expect(shownIn((await call(opened().key, name, args)).structured), name).toEqual([
      ["The kettle of handbook.", undefined],
    ]);
    expect(shownIn((await call(opened().key, name, { ...args, library: "*" })).structured), name).toEqual([
      ["The kettle of a-prod/ops.", "a-prod/ops"],
      ["The kettle of diary.", "diary"],
      ["The kettle of handbook.", undefined],
    ]);
  }
});

test("a page of all libraries goes on by its cursor, which is none of one library", async () => {
  const seen: unknown[] = [];
  let cursor: string | undefined;
  do {
    const { structured } = await call(bare, "memory_list", { limit: 1, ...(cursor && { cursor }) });
    seen.push(...shownIn(structured));
    cursor = structured.nextCursor;
    if (cursor) expect((await call(bare, "memory_list", { library: "diary", cursor })).isError).toBe(true);
  } while (cursor);
  expect(seen).toHaveLength(3);
});

test("what is found in no library is said of all of them, and of one how to ask all", async () => {
  const none = await call(bare, "memory_search", { query: "xylophone" });
  expect(none.structured.note).toContain('None of the 3 atoms in all libraries matches "xylophone"');
  const one = await call(opened().key, "memory_search", { query: "xylophone" });
  expect(one.structured.note).toContain('or library "*" for all of them');
});
