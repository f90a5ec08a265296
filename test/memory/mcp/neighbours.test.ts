import { expect, test } from "vitest";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryServer } from "../memory-server.ts";
import { callTool } from "./tool-calls.ts";

const opened = memoryServer(mcpRoutes);
const call = (name: string, args: Readonly<Record<string, unknown>> = {}, as = opened().key) =>
  callTool(opened().server, as, name, args);
async function save(content: string, more: object = {}): Promise<string> {
  const { structured, text } = await call("memory_save_atom", { content, allowDuplicate: true, ...more });
  expect(structured, text).toBeDefined();
  return structured.atom.id;
}
const links = (rel: string, ...ids: string[]) => ({ links: ids.map((id) => ({ rel, id })) });

test("memory_recall of an id shows what the atom links to and what links to it, and how", async () => {
  const one = await save("The kettle is old.", { library: "diary" });
  const id = await save("It boils slowly.", links("explains", one));
  const back = await save(`It whistles, too. ${"Really. ".repeat(100)}`, links("answers", id));
  const { structured, text } = await call("memory_recall", { id });
  expect(structured).toMatchObject({
    items: [{ id, content: "It boils slowly." }],
    neighbours: [
      { id: back, relations: [{ rel: "answers", direction: "in" }], truncated: true },
      { id: one, library: "diary", content: "The kettle is old.", relations: [{ rel: "explains", direction: "out" }] },
    ],
  });
  expect(structured).not.toHaveProperty("nextCursor");
  expect(text).toContain(`The kettle is old.\n(id ${one}; out explains`);
  expect((await call("memory_recall", { ids: [id] })).structured).not.toHaveProperty("neighbours");
  expect((await call("memory_recall", { id, offset: 3 })).structured).not.toHaveProperty("neighbours");
});

test("more neighbours than an answer has room for are read by its cursor, within maxTokens", async () => {
  const id = await save("hub");
  const spokes: string[] = [];
  for (let n = 0; n < 25; n++) spokes.push(await save(`Spoke number ${n} of the hub.`, links("explains", id)));
  for (const maxTokens of [200, 4_000]) {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { structured, text } = await call("memory_recall", { id, limit: 10, maxTokens, ...(cursor && { cursor }) });
      expect(structured.items).toHaveLength(cursor === undefined ? 1 : 0);
      expect(structured.neighbours.length).toBeLessThanOrEqual(10);
      expect(text.length / 4).toBeLessThanOrEqual(maxTokens);
      expect(JSON.stringify(structured).length / 4).toBeLessThanOrEqual(maxTokens);
      seen.push(...structured.neighbours.map((atom: { id: string }) => atom.id));
      cursor = structured.nextCursor;
      if (cursor) expect(text).toContain(`pass the same id and cursor ${cursor}`);
    } while (cursor);
    expect(seen).toEqual(spokes.toReversed());
  }
});

test("a cursor beside no id, or beside an offset, is a fault that says so", async () => {
  const id = await save("hub");
  for (const args of [{ query: "hub" }, { ids: [id] }, { id, offset: 1 }]) {
    const { isError, text } = await call("memory_recall", { ...args, cursor: "x" });
    expect([isError, text]).toEqual([true, expect.stringContaining('"cursor" beside "id" alone')]);
  }
  expect(await call("memory_recall", { id, cursor: "x" })).toMatchObject({ isError: true });
});

test("b58: no neighbour of a library that the key may not reach is shown", async () => {
  const hidden = await save("hidden");
  const id = await save("it", { library: "diary", ...links("explains", hidden) });
  await save("hidden too", links("explains", id));
  const diaryOnly = opened().server.addKey({ libraryIds: ["lib-diary"] });
  const { structured } = await call("memory_recall", { id }, diaryOnly);
  expect(structured.items).toHaveLength(1);
  expect(structured).not.toHaveProperty("neighbours");
});

test("metadata narrows memory_search, memory_recall and memory_list", async () => {
  await save("The kettle is old.", { metadata: { ticket: 7, team: "ops" } });
  await save("The kettle is new.", { metadata: { ticket: 8 } });
  const both = await call("memory_list", { metadata: { ticket: 7, team: "ops" } });
  expect(both.structured.items).toMatchObject([{ content: "The kettle is old." }]);
  for (const [name, args] of [
    ["memory_search", { query: "kettle" }],
    ["memory_recall", { query: "kettle" }],
    ["memory_list", {}],
  ] as const) {
    const { structured } = await call(name, { ...args, metadata: { ticket: "7" } });
    expect(structured.items, name).toHaveLength(1);
    const wrong = await call(name, { ...args, metadata: { ticket: ["7"] } });
    expect([wrong.isError, wrong.text]).toEqual([true, expect.stringContaining("asked for with one value")]);
  }
});
