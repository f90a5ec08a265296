import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TOOLS } from "../../../memory/mcp/protocol/server.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { estimateTokens } from "../../../memory/rules/token-estimate.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { memoryServer } from "../memory-server.ts";
import { FOUND_BY, fillWithWorstAtoms } from "../worst-atoms.ts";

type Item = { id: string; content?: string; snippet?: string; truncated?: true; nextOffset?: number };
type BudgetedAnswer = {
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into as JavaScript is, by many shapes.
  readonly structured: any;
};

const opened = memoryServer(mcpRoutes);

/** An unmodified client, which holds answers to what it has listed. */
const client = new Client({ name: "a-client", version: "1.0.0" });
beforeAll(async () => {
  const headers = { Authorization: `Bearer ${opened().key}` };
  const url = new URL(`${opened().server.url}/api/v1/memory/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  await client.listTools();
});
afterAll(() => client.close());

async function call(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<BudgetedAnswer> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  const [first] = content;
  const text = first?.type === "text" ? first.text : "";
  expect(isError, text).not.toBe(true);
  return { text, structured: structuredContent };
}

/** What an answer has in its fields, however deep: texts and numbers. */
function leavesOf(value: unknown): (string | number)[] {
  if (typeof value === "string" || typeof value === "number") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}

/** Fields that are there and say nothing. */
function emptyIn(value: unknown): unknown[] {
  if (value === null || value === false || value === "") return [value];
  if (typeof value !== "object") return [];
  const inner = Object.values(value);
  return inner.length === 0 ? [value] : inner.flatMap(emptyIn);
}

function expectWithin({ text, structured }: BudgetedAnswer, maxTokens: number, what: string): void {
  expect(estimateTokens(text), `${what}: the text`).toBeLessThanOrEqual(maxTokens);
  expect(estimateTokens(JSON.stringify(structured)), `${what}: what is structured`).toBeLessThanOrEqual(maxTokens);
  const { items, ...others } = structured;
  expect(emptyIn(items?.length === 0 ? others : structured), what).toEqual([]);
  expect(
    leavesOf(structured).filter((leaf) => !text.includes(`${leaf}`)),
    `${what}: what the text does not say`,
  ).toEqual([]);
}

test("the names, descriptions and input schemas of all tools cost a session no more than 3,000 tokens", () => {
  const listed = [...TOOLS.values()].map(({ definition: { name, description, inputSchema } }) => ({
    ...{ name, description, inputSchema },
  }));
  expect(estimateTokens(JSON.stringify(listed))).toBeLessThanOrEqual(3_000);
});

/** Ways to fill the diary with atoms that are found by {@link FOUND_BY}. */
const SHAPES: Readonly<Record<string, () => Promise<void>>> = {
  "atoms with all that JSON writes long": () =>
    fillWithWorstAtoms(opened().store, [40_000, 10, 600, 60_000, 0, 3_000, 50, 10, 10, 700, 10, 10]),
  "long atoms of Chinese": () => fill((n) => `${FOUND_BY} ${n} ${"密".repeat(n * 900)}`),
  "long atoms of English": () => fill((n) => `${FOUND_BY} ${n} ${"The deploy freeze ends on Monday. ".repeat(n * 60)}`),
  "short atoms": () => fill((n) => `${FOUND_BY} ${n} opens at noon.`),
  "short atoms that are true for a time": async () => {
    await fill((n) => `${FOUND_BY} ${n} opens at noon.`);
    await sql`update atoms set valid_from = '2025-03-01', valid_to = '2999-05-01'`.execute(opened().store.db);
  },
  "a word without an end": () => fill((n) => `${FOUND_BY} ${n} ${FOUND_BY.repeat(n * 700)}`),
};

async function fill(contentOf: (n: number) => string): Promise<void> {
  const contents = JSON.stringify(Array.from({ length: 12 }, (_, at) => contentOf(12 - at)));
  await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
    select 'lib-diary', 'team-a', content, array['tag', '標籤'], n % 10, now(), now()
    from jsonb_array_elements_text(${contents}::jsonb) with ordinality given (content, n)`.execute(opened().store.db);
}

const LIBRARY = { library: "diary", limit: 100 };
const READS: Readonly<Record<string, object>> = {
  memory_search: { ...LIBRARY, query: FOUND_BY },
  memory_recall: { ...LIBRARY, query: FOUND_BY },
  memory_wake_up: LIBRARY,
  memory_list: LIBRARY,
};

/** By day each read has half of them with each shape: all of them with two. */
const WIDTHS = [200, 450, undefined, 20_000] as const;

describe.each(Object.keys(SHAPES).map((shape, nth) => [shape, nth] as const))("Of %s", (shape, nth) => {
  beforeEach(() => SHAPES[shape]?.());

  test("each read says the same twice within its tokens, of one atom at least its beginning", async () => {
    for (const [at, [name, args]] of Object.entries(READS).entries()) {
      for (const maxTokens of WIDTHS.filter((_, n) => NIGHTLY || n % 2 === (nth + at) % 2)) {
        const what = `${name}, ${maxTokens}`;
        const answer = await call(name, { ...args, ...(maxTokens && { maxTokens }) });
        expectWithin(answer, maxTokens ?? 4_000, what);
        const { items, important, recent = [], omitted = [], leftOut = 0, nextCursor, truncated } = answer.structured;
        const shown: Item[] = items ?? [...important, ...recent];
        expect(shown.length, what).toBeGreaterThan(0);
        for (const { content, snippet } of shown) {
          expect(content ?? snippet, what).toMatch(new RegExp(`^\\W*${FOUND_BY}`));
        }
        if (shown.length < 12) expect(omitted.length + leftOut > 0 || nextCursor !== undefined, what).toBe(true);
        if (shown.some((atom) => atom.truncated) && items !== undefined) expect(truncated, what).toBe(true);
      }
    }
  });

  test("an atom is read on by its id and an offset, until all of it was read", async () => {
    const { rows } = await sql<{ id: string; content: string }>`
      select id::text, content from atoms order by length(content) desc limit 1`.execute(opened().store.db);
    const [{ id, content } = { id: "", content: "" }] = rows;
    const maxTokens = Math.max(200, Math.ceil(estimateTokens(JSON.stringify(content)) / 4));
    let read = "";
    let parts = 0;
    for (let offset: number | undefined = 0; offset !== undefined; parts++) {
      const answer = await call("memory_recall", { ...{ id, maxTokens }, ...(offset > 0 && { offset }) });
      expectWithin(answer, maxTokens, `at ${offset}`);
      const [atom]: [Item] = answer.structured.items;
      read += atom.content;
      expect(atom.truncated).toBe(atom.nextOffset === undefined ? undefined : true);
      expect(answer.structured.truncated).toBe(atom.truncated);
      offset = atom.nextOffset;
    }
    expect(read === content).toBe(true);
    expect(parts).toBeGreaterThan(content.length > 3_000 ? 2 : 0);
  });
});

test("memory_history reads on by its cursor in a revision that it has cut, present or earlier", async () => {
  const contents = ["The kettle is old. ", "密", "The kettle is new. "].map((words) => words.repeat(500));
  const [first = "", ...others] = contents;
  const { id } = (await call("memory_save_atom", { content: first })).structured.atom;
  for (const content of others) await call("memory_correct_atom", { id, content });
  const read = new Map<number, string>();
  let cursor: string | undefined;
  do {
    const answer = await call("memory_history", { id, maxTokens: 500, ...(cursor && { cursor }) });
    expectWithin(answer, 500, "a page");
    for (const { revision, content } of answer.structured.items) {
      read.set(revision, (read.get(revision) ?? "") + content);
    }
    if (answer.structured.truncated) expect(answer.structured.nextCursor).toEqual(expect.any(String));
    cursor = answer.structured.nextCursor;
  } while (cursor !== undefined);
  expect([...read.keys()]).toEqual([3, 2, 1]);
  expect([...read.values()].reverse()).toEqual(contents);
});

test("what is beside the atoms of a briefing takes a quarter of it at most, but for their ids", async () => {
  const words = "The deploy freeze of the payments service ends on Monday at noon, says Anna. ";
  await sql`insert into atoms (library_id, team_id, content, tags, source, importance, metadata, created_at, updated_at)
    select 'lib-handbook', 'team-a', n || ' ' || repeat(${words}, n), array['deploy', 'payments', repeat('t', 60)],
      'runbooks/deploy-freeze', 7, '{"ticket": "OPS-12", "team": "payments"}', now(), now()
    from generate_series(1, 12) n`.execute(opened().store.db);
  for (const [name, args] of [
    ["memory_wake_up", {}],
    ["memory_recall", { query: "deploy freeze" }],
  ] as const) {
    const { text, structured } = await call(name, { ...args, maxTokens: 8_000 });
    const facts = text.match(/^\(id .*\)$/gm) ?? [];
    expect(facts).toHaveLength(structured.leftOut === undefined ? 10 : 12 - structured.leftOut);
    const others = facts.map((fact) => fact.replace(/^\(id [\w-]+(; )?/, "("));
    const tokens = (lines: readonly string[]) => lines.reduce((sum, line) => sum + estimateTokens(line), 0);
    expect(tokens(others)).toBeLessThanOrEqual(tokens([text]) / 4);
    expect(tokens(facts)).toBeLessThanOrEqual(tokens([text]) / 4);
    expect(text).toContain("tags deploy, payments");
  }
  const [{ id } = { id: "" }] = (await call("memory_list", { limit: 1 })).structured.items;
  const byId = await call("memory_recall", { id });
  expect(byId.structured.items[0]).toMatchObject({ metadata: { ticket: "OPS-12" }, source: expect.any(String) });
});

test("what is beside the atoms of a briefing takes a quarter of maxTokens at most, however short they are", async () => {
  await sql`insert into atoms (library_id, team_id, content, tags, source, importance, metadata, created_at, updated_at,
      valid_from, valid_to)
    select 'lib-handbook', 'team-a', 'Tea is ' || n || '.', array['price'], 'a/list', 7, '{"ticket": "OPS-12"}', now(),
      now(), '2025-03-01', case when n % 2 = 0 then '2999-05-01'::timestamptz end
    from generate_series(1, 60) n`.execute(opened().store.db);
  for (const [name, args] of [
    ["memory_wake_up", { limit: 100 }],
    ["memory_recall", { query: "tea", limit: 100 }],
  ] as const) {
    for (const maxTokens of [200, 450, 1_000, 4_000]) {
      const { text, structured } = await call(name, { ...args, maxTokens });
      const { items, important = [], recent = [] } = structured;
      const atoms: Item[] = items ?? [...important, ...recent];
      const lines = text.match(/^\(id .*\)$/gm) ?? [];
      const fields = atoms.map(({ content: _content, ...facts }) => JSON.stringify(facts));
      for (const facts of [lines, fields]) {
        expect(facts).toHaveLength(atoms.length);
        expect(estimateTokens(facts.join("")), `${name}, ${maxTokens}`).toBeLessThanOrEqual(maxTokens / 4);
      }
    }
  }
});

test("a short atom of a briefing says from when on it is true only where that is to come", async () => {
  const [past, future] = ["2025-03-01T00:00:00.000Z", "2999-03-01T00:00:00.000Z"];
  await call("memory_save_atom", { content: "Tea is 10.", validFrom: past });
  await call("memory_save_atom", { content: "Coffee is 12.", validFrom: future, validTo: "2999-04-01T00:00:00.000Z" });
  const { text } = await call("memory_recall", { query: "tea coffee" });
  expect(text).toContain(`valid from ${future}`);
  expect(text).not.toContain(`valid from ${past}`);
  expect((await call("memory_list")).text).toContain(`valid from ${past}`);
});

test("what is structured says by itself that nothing was found, why, and what to do", async () => {
  await call("memory_save_atom", { content: "The kettle is on the second floor." });
  const none = await call("memory_search", { query: "xylophone" });
  expect(none.structured).toEqual({ note: expect.any(String), items: [] });
  expect(none.structured.note).toContain('None of the 1 atom in handbook matches "xylophone"');
  expect(none.text).toBe(none.structured.note);
  const nearest = await call("memory_search", { query: "kettle xylophone" });
  expect(nearest.structured.note).toContain("No atom has all the words");
  const hidden = await call("memory_search", { query: "kettle", exclude: ["floor"] });
  expect(hidden.structured).toEqual({ note: expect.stringContaining('Excluding "floor" leaves nothing'), items: [] });
});

test("what is saved, corrected and forgotten is answered within the same tokens", async () => {
  const long = { content: "密".repeat(60_000), tags: ["長".repeat(60)], source: "s".repeat(500) };
  const one = await call("memory_save_atom", { ...long, maxTokens: 200 });
  expectWithin(one, 200, "one");
  const { id } = one.structured.atom;
  const again = await call("memory_save_atom", { ...long, importance: 9, maxTokens: 300 });
  expectWithin(again, 300, "a near-duplicate");
  expect(again.structured).toMatchObject({ nearDuplicates: [{ atom: { id, truncated: true } }], truncated: true });
  const port = { ...long, content: `${"端".repeat(2_000)} 8080` };
  await call("memory_save_atom", port);
  for (const maxTokens of [200, 300, 4_000]) {
    const content = `${"端".repeat(2_000)} ${maxTokens}`;
    const beside = await call("memory_save_atom", { ...long, content, maxTokens });
    expectWithin(beside, maxTokens, "beside what differs by a number");
    expect(beside.structured.nearDuplicates[0]).toMatchObject({ otherNumbers: true });
    const atoms = Array.from({ length: 4 }, (_, n) => ({ content: `${content} ${n} of several` }));
    expectWithin(await call("memory_save_atom", { atoms, maxTokens }), maxTokens, "several beside what differs");
  }
  const corrected = await call("memory_correct_atom", { id, importance: 9, maxTokens: 300 });
  expectWithin(corrected, 300, "a correction");
  expect(corrected.structured.atom).toMatchObject({ id, truncated: true, nextOffset: expect.any(Number) });
  const atoms = Array.from({ length: 50 }, (_, n) => ({ content: `Statement number ${n} of fifty.`, tags: ["t"] }));
  const many = await call("memory_save_atom", { atoms, allowDuplicate: true });
  expectWithin(many, 4_000, "fifty");
  expect(many.structured.atoms).toHaveLength(50);
  const others = atoms.map((atom) => ({ ...atom, tags: ["u"] }));
  const few = await call("memory_save_atom", { atoms: others, allowDuplicate: true, maxTokens: 200 });
  expectWithin(few, 200, "fifty, of which few are named");
  expect(few.structured).toMatchObject({ note: expect.stringContaining("Saved 50 atoms"), truncated: true });
  const history = await call("memory_history", { id, maxTokens: 300 });
  expectWithin(history, 300, "a history");
  expect(history.structured).toMatchObject({ items: [{ revision: 2, truncated: true }], truncated: true });
  expectWithin(await call("memory_forget_atom", { id }), 200, "what was forgotten");
});

test("ids that are unknown, and libraries with long descriptions, take no more than their tokens", async () => {
  const ids = Array.from({ length: 100 }, (_, n) => `${n} ${"未知".repeat(30)}`);
  const none = await call("memory_recall", { ids, maxTokens: 400 });
  expectWithin(none, 400, "ids");
  expect(none.structured.note).toMatch(
    /^There are no atoms of these ids for this key\. \d+ more ids have no room here\.$/,
  );
  await sql`update libraries set description = repeat('密', 5000) where team_id = 'team-a'`.execute(opened().store.db);
  for (const name of ["memory_libraries", "memory_wake_up"]) {
    const answer = await call(name, { maxTokens: 300 });
    expectWithin(answer, 300, name);
    const { library, items = [library] } = answer.structured;
    expect(items[0].description).toMatch(/^密+$/);
  }
});

test("an offset beyond the atom, or beside no id, is a fault that says so", async () => {
  const { structured } = await call("memory_save_atom", { content: "Four" });
  await expect(call("memory_recall", { id: structured.atom.id, offset: 5 })).rejects.toThrow("4 characters");
  await expect(call("memory_recall", { ids: [structured.atom.id], offset: 1 })).rejects.toThrow('beside "id" alone');
  await expect(call("memory_recall", { id: "x", query: "y" })).rejects.toThrow("takes one of");
});
