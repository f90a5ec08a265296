import { sql } from "kysely";
import { describe, expect, test, vi } from "vitest";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { callTool } from "./mcp/tool-calls.ts";
import { memoryServer } from "./memory-server.ts";
import { FOUND_BY, fillWithWorstAtoms, numberOf } from "./worst-atoms.ts";

const MIB = 1_048_576;
/** Of a control character, which is sent as six bytes: longer than a page by itself. */
const LONG = 180_000;
/** Beside some of all sizes, one that is longer than a page, between others and at the end. */
const SIZES = [...Array.from({ length: 8 }, (_, i) => (i * 7_919) % 60_000), LONG, 10, 10, LONG];
const NUMBERS = SIZES.map((_, i) => i + 1);

type PagedAtom = { readonly content: string; readonly snippet?: string; readonly revision: number };
/** A page as it came: how many bytes, and what it says. */
type ReceivedPage = {
  readonly bytes: number;
  readonly items: readonly PagedAtom[];
  readonly nextCursor?: string | null;
};

describe("a page of the memory", () => {
  const opened = memoryServer(memoryRoutes, mcpRoutes);

  async function rest(path: string): Promise<ReceivedPage> {
    const { server, key } = opened();
    const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    const text = await response.text();
    return { bytes: Buffer.byteLength(text), ...JSON.parse(text) };
  }

  async function tool(name: string, args: Readonly<Record<string, unknown>>): Promise<ReceivedPage> {
    const { server, key } = opened();
    const { structured, text, bytes } = await callTool(server, key, name, args);
    const items = structured.items.map((item: PagedAtom) => ({ ...item, content: item.content ?? item.snippet }));
    for (const { content } of items) expect(text).toContain(content);
    return { bytes, ...structured, items };
  }

  const cursorOf = (cursor: string | null) => (cursor === null ? "" : `&cursor=${cursor}`);
  const argumentOf = (cursor: string | null) => (cursor === null ? {} : { cursor });
  const DIARY = { library: "diary", limit: 100, maxTokens: 20_000 };
  const LISTS: Readonly<Record<string, (cursor: string | null) => Promise<ReceivedPage>>> = {
    "GET /atoms": (cursor) => rest(`/atoms?limit=100${cursorOf(cursor)}`),
    "GET /atoms of a filter": (cursor) => rest(`/atoms?limit=100&source=%02&sort=importance${cursorOf(cursor)}`),
    "GET /atoms/search": (cursor) => rest(`/atoms/search?limit=100&q=${FOUND_BY}&sort=newest${cursorOf(cursor)}`),
    memory_list: (cursor) => tool("memory_list", { ...DIARY, ...argumentOf(cursor) }),
    memory_search: (cursor) => tool("memory_search", { ...DIARY, query: FOUND_BY, ...argumentOf(cursor) }),
  };

  test("b109: ends at 1 MiB as it is sent, and the next goes on there", async () => {
    await fillWithWorstAtoms(opened().store, SIZES);
    for (const [name, list] of Object.entries(LISTS)) {
      const pages = await pagesOf(list);
      const seen = pages.flatMap(({ items }) => items.map(numberOf));
      expect(
        seen.toSorted((a, b) => a - b),
        name,
      ).toEqual(NUMBERS);
      expectBounded(pages, name);
    }
  });

  test.each(["GET revisions", "memory_history"])("b109: ends at 1 MiB of an atom's revisions too: %s", async (name) => {
    // A tool's page ends at its tokens, much earlier: shorter revisions have several pages there.
    const part = name === "memory_history" ? 1 / 5 : 1;
    await fillWithWorstAtoms(opened().store, [50_000 * part]);
    const { rows } = await sql<{ id: string }>`select id::text from atoms`.execute(opened().store.db);
    const id = rows[0]?.id ?? "";
    for (const size of [60_000, LONG, 5, 60_000, 60_000]) {
      await sql`update atoms set content = repeat(E'\\x01', ${size * part}::integer), revision = revision + 1`.execute(
        opened().store.db,
      );
    }
    const pages = await pagesOf(
      (cursor) =>
        name === "memory_history"
          ? tool(name, { ...{ id, limit: 100, maxTokens: 20_000 }, ...argumentOf(cursor) })
          : rest(`/atoms/${id}/revisions?limit=100${cursorOf(cursor)}`),
      200,
    );
    const revisions = pages.flatMap(({ items }) => items.map(({ revision }) => revision));
    expect(name === "memory_history" ? [...new Set(revisions)] : revisions).toEqual([6, 5, 4, 3, 2, 1]);
    expectBounded(pages);
  });

  test("b109: memory_recall of a topic names the atoms that it has no room for, and they are read by their ids", async () => {
    await fillWithWorstAtoms(opened().store, SIZES);
    const { server, key } = opened();
    const first = await callTool(server, key, "memory_recall", { ...DIARY, query: FOUND_BY });
    expect(first.structured).not.toHaveProperty("missing");
    const answers = [first];
    const unknown = "00000000-0000-7000-8000-000000000000";
    for (let { omitted = [] } = first.structured; omitted.length > 0; ) {
      expect(answers.at(-1)?.text).toContain(`call memory_recall with these ids: ${omitted.join(", ")}`);
      const answer = await callTool(server, key, "memory_recall", { ids: [...omitted, unknown] });
      expect(answer.structured.missing).toEqual([unknown]);
      const { omitted: left = [] } = answer.structured;
      expect(left.length).toBeLessThan(omitted.length);
      answers.push(answer);
      omitted = left;
    }
    const seen = answers.flatMap(({ structured }) => structured.items.map(numberOf));
    expect(seen.toSorted((a, b) => a - b)).toEqual(NUMBERS);
    expectBounded(answers.map(({ bytes, structured }) => ({ bytes, items: structured.items })));
    expect(answers.at(-1)?.text).not.toContain("without room");
  });

  test("b109: memory_save_atom shows no more near-duplicates than a page has room for", async () => {
    const { server, key } = opened();
    const atoms = Array.from({ length: 16 }, (_, n) => ({ content: "A word. ".repeat(7_500) + "abcdefghijklmnop"[n] }));
    for (const atom of atoms.slice(0, 4)) {
      const save = { ...atom, tags: ["before"], library: "diary", allowDuplicate: true };
      await callTool(server, key, "memory_save_atom", save);
    }
    const { bytes, structured, text } = await callTool(server, key, "memory_save_atom", { atoms, library: "diary" });
    expect(bytes).toBeLessThanOrEqual(MIB);
    expect(structured.nearDuplicates).toMatchObject([{ index: 0, atom: { truncated: true } }]);
    expect(text).toContain("There may be others: this answer has no room for them.");
    expect(structured).not.toHaveProperty("atoms");
  });

  test("b109: memory_wake_up is no longer than a page, however much is asked for", async () => {
    await fillWithWorstAtoms(opened().store, Array(100).fill(700));
    const { server, key } = opened();
    const all = { library: "diary", limit: 100, maxTokens: 20_000 };
    const { bytes, structured } = await callTool(server, key, "memory_wake_up", all);
    expect(bytes).toBeLessThanOrEqual(MIB);
    const { important = [], recent = [] } = structured;
    const shown = important.length + recent.length;
    expect(shown).toBeGreaterThan(10);
    expect(structured.leftOut).toBe(100 - shown);
  });

  test("b111: is encoded twice, to be measured and to be sent, and no oftener", async () => {
    await fillWithWorstAtoms(opened().store, Array(100).fill(2_000));
    for (const [name, list] of Object.entries(LISTS)) {
      const first = await list(null);
      const encoding = vi.spyOn(JSON, "stringify");
      const again = await list(null);
      const bytes = encoding.mock.results.reduce((sum, { value }) => sum + Buffer.byteLength(value ?? ""), 0);
      encoding.mockRestore();
      expect(again.bytes, name).toBe(first.bytes);
      // A tool's answer ends at its tokens before.
      if (name.startsWith("GET")) expect(bytes, name).toBeGreaterThan(1.5 * MIB);
      // The item that is measured last has no room any more.
      expect(bytes, name).toBeLessThan(2 * MIB + 100_000);
    }
  });

  test("b109: an export goes on behind a piece that its bytes have ended", async () => {
    await fillWithWorstAtoms(opened().store, SIZES);
    const { server, key } = opened();
    const headers = { authorization: `Bearer ${key}` };
    const text = await (await fetch(`${server.url}/atoms/export?library=diary`, { headers })).text();
    const lines = text.trimEnd().split("\n");
    expect(lines.map((line) => numberOf(JSON.parse(line)))).toEqual(NUMBERS);
  });
});

async function pagesOf(
  list: (cursor: string | null) => Promise<ReceivedPage>,
  most = NUMBERS.length,
): Promise<ReceivedPage[]> {
  const pages: ReceivedPage[] = [];
  for (
    let cursor: string | null | undefined = null;
    cursor !== undefined;
    cursor = pages.at(-1)?.nextCursor ?? undefined
  ) {
    const page = await list(cursor);
    if (pages.length > most) throw new Error("the list has no end");
    pages.push(page);
  }
  return pages;
}

/** One that is longer by itself is alone. */
function expectBounded(pages: readonly ReceivedPage[], name?: string): void {
  expect(pages.length, name).toBeGreaterThan(1);
  for (const { bytes, items } of pages) {
    expect(items.length, name).toBeGreaterThan(0);
    if (items.length > 1) expect(bytes, name).toBeLessThanOrEqual(MIB);
  }
}
