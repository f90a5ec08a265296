import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import { estimateTokens } from "../../../memory/rules/token-estimate.ts";
import { memoryServer } from "../memory-server.ts";
import { callTool } from "./tool-calls.ts";

const opened = memoryServer(mcpRoutes, memoryRoutes);
let teamB: string;
beforeAll(async () => {
  teamB = opened().server.addKey({ teamId: "team-b", namespace: "b", mcpDefaultLibraryId: "lib-b-notes" });
});

const call = (name: string, args: Readonly<Record<string, unknown>> = {}, as = opened().key) =>
  callTool(opened().server, as, name, args);

async function saved(content: string, as = opened().key): Promise<string> {
  const { structured, text, isError } = await call("memory_save_atom", { content }, as);
  expect(isError, text).toBe(false);
  return structured.atom.id;
}

test("memory_history shows what an atom said before, page by page", async () => {
  const id = await saved("one");
  for (const content of ["two", "three"]) await call("memory_correct_atom", { id, content });
  const first = await call("memory_history", { id, limit: 2 });
  expect(first.structured.items.map((item: { content: string }) => item.content)).toEqual(["three", "two"]);
  expect(first.text).toContain("pass cursor");
  const { nextCursor } = first.structured;
  const second = await call("memory_history", { id, limit: 2, cursor: nextCursor });
  expect(second.structured).toMatchObject({ items: [{ content: "one", revision: 1 }] });
  expect(second.structured).not.toHaveProperty("nextCursor");
  const other = await saved("another");
  expect(await call("memory_history", { id: other, cursor: nextCursor })).toMatchObject({ isError: true });
});

test("b58: memory_history and memory_forget_atom find no atom of another team", async () => {
  const id = await saved("ours");
  const unknown = "00000000-0000-7000-8000-000000000000";
  for (const name of ["memory_history", "memory_forget_atom"]) {
    const theirs = await call(name, { id }, teamB);
    expect(theirs).toMatchObject({ isError: true, text: expect.stringContaining("memory_search") });
    expect(theirs).toEqual(await call(name, { id: unknown }, teamB));
    expect(await call(name, { id: "x" })).toEqual(theirs);
  }
  expect((await call("memory_recall", { ids: [id] })).structured.items).toHaveLength(1);
});

test("memory_forget_atom keeps an atom for 30 days, out of every caller's reach, and not one that has moved on", async () => {
  const id = await saved("one");
  await call("memory_correct_atom", { id, content: "two" });
  const stale = await call("memory_forget_atom", { id, revision: 1 });
  expect(stale).toMatchObject({ isError: true, text: expect.stringContaining("revision 2") });
  const { structured, text } = await call("memory_forget_atom", { id, revision: 2 });
  const days = (Date.parse(structured.keptUntil) - Date.now()) / 86_400_000;
  expect(structured).toEqual({ forgotten: id, keptUntil: expect.any(String) });
  expect(Math.round(days)).toBe(30);
  expect(text).toContain(`It can be restored until ${structured.keptUntil}.`);
  expect((await call("memory_recall", { ids: [id] })).structured.missing).toEqual([id]);
  expect((await call("memory_wake_up")).structured.library).toMatchObject({ atoms: 0 });
  for (const name of ["memory_forget_atom", "memory_history"]) expect((await call(name, { id })).isError).toBe(true);
  expect((await call("memory_correct_atom", { id, content: "three" })).isError).toBe(true);

  const restored = await opened().call("POST", `/atoms/${id}/restore`);
  expect(restored).toMatchObject({ status: 200, json: { id, content: "two", revision: 2 } });
  expect((await call("memory_history", { id })).structured.items).toMatchObject([
    { content: "two", revision: 2 },
    { content: "one", revision: 1 },
  ]);
});

test("memory_forget_atom with now deletes an atom with its revisions for ever, also one that is kept", async () => {
  const stored = async () =>
    (
      await sql<{ n: number }>`select (select count(*) from atom_revisions)::integer
      + (select count(*) from forgotten_atoms)::integer as n`.execute(opened().store.db)
    ).rows[0]?.n;
  await sql`delete from forgotten_atoms`.execute(opened().store.db);
  for (const isKept of [false, true]) {
    const id = await saved("one");
    await call("memory_correct_atom", { id, content: "two" });
    if (isKept) await call("memory_forget_atom", { id });
    const { structured, text } = await call("memory_forget_atom", { id, now: true });
    expect(structured).toEqual({ forgotten: id });
    expect(text).toContain("It is gone for ever.");
    expect(await opened().call("POST", `/atoms/${id}/restore`)).toMatchObject({
      ...{ status: 404, json: { code: "not_found", detail: expect.stringContaining("30 days") } },
    });
    expect(await stored()).toBe(0);
  }
});

test("memory_libraries lists those of the key's reach, as the key names them, and which is the default", async () => {
  const all = await call("memory_libraries");
  const names = all.structured.items.map((item: { name: string }) => item.name).sort();
  expect(names).toEqual(["a-prod/ops", "diary", "handbook"]);
  expect(all.structured.items).toContainEqual({
    ...{ name: "handbook", description: "What handbook is for.", isDefault: true },
  });
  expect(all.text).toContain("- handbook, the default: What handbook is for.");
  const restricted = opened().server.addKey({ libraryIds: ["lib-diary"], teamDefaultLibraryId: "lib-handbook" });
  const few = await call("memory_libraries", {}, restricted);
  expect(few.structured.items).toEqual([{ name: "diary", description: "What diary is for." }]);
  const none = await call("memory_libraries", {}, opened().server.addKey({ libraryIds: [] }));
  expect(none.structured).toEqual({ note: none.text, items: [] });
  expect(none.text).toContain("libraryAccess");
});

test("memory_libraries comes in pages, and takes no cursor of another team or list", async () => {
  const first = await call("memory_libraries", { limit: 2 });
  const { nextCursor } = first.structured;
  const second = await call("memory_libraries", { limit: 2, cursor: nextCursor });
  const names = [...first.structured.items, ...second.structured.items].map((item) => item.name);
  expect(names.sort()).toEqual(["a-prod/ops", "diary", "handbook"]);
  expect(second.structured).not.toHaveProperty("nextCursor");
  expect((await call("memory_libraries", { cursor: nextCursor }, teamB)).isError).toBe(true);
  expect((await call("memory_list", { cursor: nextCursor })).isError).toBe(true);
});

test("memory_forget_atom is not shown to a key that reads, and says that it destroys", async () => {
  const reader = opened().server.addKey({ scopes: scopeSet(["memory:read"]) });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const tools = async (as: string) => {
    const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const response = await fetch(`${opened().server.url}/api/v1/memory/mcp`, {
      ...{ method: "POST", body, headers: { ...headers, authorization: `Bearer ${as}` } },
    });
    const text = await response.text();
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).result.tools;
  };
  const isForget = ({ name }: { name: string }) => name === "memory_forget_atom";
  expect((await tools(reader)).some(isForget)).toBe(false);
  expect((await tools(opened().key)).find(isForget).annotations).toMatchObject({
    destructiveHint: true,
    readOnlyHint: false,
  });
});

test("memory_wake_up reads on behind what is replaced, and leaves out what is not valid", async () => {
  const kept: string[] = [];
  for (const content of ["The harbour opens at six.", "The harbour has a crane."]) {
    kept.push((await call("memory_save_atom", { content, importance: 8 })).structured.atom.id);
  }
  let last: string | undefined;
  for (let day = 0; day < 15; day++) {
    const links = last === undefined ? [] : [{ rel: "replaces", id: last }];
    const content = `Status of the harbour on day ${day}: the crane is ${"painted ".repeat(day + 1)}.`;
    last = (await call("memory_save_atom", { content, importance: 9, links, allowDuplicate: true })).structured.atom.id;
  }
  await call("memory_save_atom", { content: "The pier was closed.", importance: 10, validTo: "2026-01-01" });
  const { structured } = await call("memory_wake_up", { limit: 3 });
  expect(structured.important.map(({ id }: { id: string }) => id).toSorted()).toEqual([...kept, last].toSorted());
});

test("memory_wake_up has what was written before what a model took out of a conversation", async () => {
  for (const day of [1, 2, 3]) {
    await call("memory_save_atom", { content: `Guess ${day} about the pier.`, importance: 10, source: "extracted" });
  }
  const written = ["The harbour opens at six.", "The ferry has two decks."];
  for (const content of written) await call("memory_save_atom", { content, importance: 1 });
  for (const day of [4, 5])
    await call("memory_save_atom", { content: `Guess ${day} about the quay.`, source: "extracted" });
  const { structured } = await call("memory_wake_up", { limit: 2 });
  const shown = [...structured.important, ...(structured.recent ?? [])].map(({ content }) => content);
  expect(shown.toSorted()).toEqual(written.toSorted());
});

test("memory_wake_up keeps within its budget, the most important and the latest first, and says what it left out", async () => {
  const words = "A statement that takes some room in the briefing. ".repeat(8);
  for (let i = 0; i < 12; i++)
    await call("memory_save_atom", { content: `${i} ${words}`, importance: i === 3 ? 9 : 5 });
  const all = await call("memory_wake_up", { maxTokens: 20_000, limit: 100 });
  expect(all.structured).not.toHaveProperty("leftOut");
  expect(all.text).not.toContain("Left out");
  const few = await call("memory_wake_up", { maxTokens: 500, limit: 6 });
  const { important, recent, leftOut } = few.structured;
  expect(estimateTokens(few.text)).toBeLessThanOrEqual(500);
  expect(important[0].content).toMatch(/^3 /);
  expect(important.length + recent.length).toBeGreaterThan(1);
  expect(leftOut).toBe(12 - important.length - recent.length);
  expect(few.text).toContain(`Left out: ${leftOut}.`);
  const least = await call("memory_wake_up", { maxTokens: 200 });
  expect(least.structured).toMatchObject({ important: [{ content: expect.stringMatching(/^3 /) }], leftOut: 11 });
  expect(least.structured).not.toHaveProperty("recent");
});

test("b288: that nothing is remembered is said of an empty library alone, and that no atom has a word of none that a filter hides", async () => {
  for (const name of ["memory_search", "memory_recall"]) {
    expect((await call(name, { query: "harbour" })).text).toBe("Nothing is remembered in handbook yet.");
  }
  await saved("The kettle is on the second floor.");
  for (const name of ["memory_search", "memory_recall"]) {
    const none = await call(name, { query: "xylophone marzipan" });
    expect(none.structured).toEqual({ note: none.text, items: [] });
    expect(none.text).toContain('None of the 1 atom in handbook matches "xylophone marzipan"');
    expect(none.text).toContain("memory_list");
    expect(none.text).not.toContain("without the filters");
    const narrowed = await call(name, { query: "kettle", tags: ["harbour"] });
    expect(narrowed.text).toContain("Try without the filters");
    expect(narrowed.text).toContain('None of the 1 atom in handbook passes the filters and matches "kettle"');
  }
  const nearest = await call("memory_search", { query: "kettle xylophone" });
  expect(nearest.structured.items).toMatchObject([{ match: "nearest" }]);
  expect(nearest.text).toMatch(/^No atom has all the words of "kettle xylophone".*the nearest.*\n\nThe kettle/);
});

test("memory_search takes a minus sign as text, and what no result may have in exclude", async () => {
  await saved("curl -v shows the headers of the harbour.");
  await saved("The harbour opens at noon.");
  const found = async (args: object) => (await call("memory_search", { query: "harbour", ...args })).structured.items;
  expect(await found({ query: "-v" })).toMatchObject([{ snippet: "curl -v shows the headers of the harbour." }]);
  expect(await found({ query: "curl --verbose -v" })).toHaveLength(1);
  expect(await found({ exclude: ["-v"] })).toMatchObject([{ snippet: "The harbour opens at noon." }]);
  expect(await found({ exclude: ["opens at"] })).toHaveLength(1);
  expect(await found({ query: "curl or noon", exclude: ["headers"] })).toHaveLength(1);
  const none = await call("memory_search", { query: "harbour", exclude: ["curl", "noon"] });
  expect(none.text).toBe(
    'Excluding "curl", "noon" leaves nothing: it hides 2 atoms that would be found without. Call again without "exclude", or with less in it.',
  );
});

test("b61: memory_search refuses exclusions beside so many alternatives that together they are a long search", async () => {
  const exclude = Array.from({ length: 10 }, (_, n) => `${n} ${"word ".repeat(19)}`);
  const query = Array.from({ length: 190 }, (_, n) => n).join(" or ");
  const refused = await call("memory_search", { query: query.slice(0, 1_000), exclude });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('each side of each "or"') });
  for (const args of [{ query: "a ".repeat(500), exclude }, { query: query.slice(0, 1_000) }]) {
    expect(await call("memory_search", args)).toMatchObject({ isError: false });
  }
});

test("memory_search and memory_list take filters and an order, and come in pages", async () => {
  for (const [content, tags, source] of [
    ["harbour one", ["a"], "docs/one"],
    ["harbour two", ["a", "b"], "docs/two"],
    ["harbour three", ["c"], "mail"],
  ] as const) {
    expect(await call("memory_save_atom", { content, tags, source })).toMatchObject({ isError: false });
  }
  for (const [name, query] of [
    ["memory_search", { query: "harbour" }],
    ["memory_list", {}],
  ] as const) {
    const contents = async (args: object) =>
      (await call(name, { ...query, ...args })).structured.items.map(
        (item: { content?: string; snippet?: string }) => item.content ?? item.snippet,
      );
    expect(await contents({ anyTags: ["b", "c"], sort: "oldest" }), name).toEqual(["harbour two", "harbour three"]);
    expect(await contents({ tags: ["a", "b"] }), name).toEqual(["harbour two"]);
    expect(await contents({ source: "docs/", sort: "oldest" }), name).toEqual(["harbour one", "harbour two"]);
    const first = await call(name, { ...query, limit: 2, sort: "oldest" });
    const { nextCursor } = first.structured;
    expect(await contents({ limit: 2, sort: "oldest", cursor: nextCursor }), name).toEqual(["harbour three"]);
    expect((await call(name, { ...query, sort: "newest", cursor: nextCursor })).isError, name).toBe(true);
    const wrong = await call(name, { ...query, since: "yesterday" });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining("since") });
  }
});
