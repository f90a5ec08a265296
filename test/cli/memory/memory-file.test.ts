import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { memoryRoutes } from "../../../server/memory/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { deleteAtom, insertAtom } from "../../../store/memory/atom-writes.ts";
import { findAtoms } from "../../../store/memory/atoms.ts";
import { forgetAtom } from "../../../store/memory/forgotten-atoms.ts";
import { startTcpProxy } from "../../env/tcp-proxy.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { openMemoryStore } from "../../server/memory/memory-store.ts";
import { PLAIN } from "../../store/memory/plain-atom.ts";
import { keyplane } from "../up.ts";

const folder = mkdtempSync(join(tmpdir(), "keyplane-memory-"));
const FILE = join(folder, "library.jsonl");
const KEY_FILE = join(folder, "key");
const WRITER_FILE = join(folder, "writer");
let store: Store;
let server: Harness;
let as: string[];
beforeAll(async () => {
  store = await openMemoryStore();
  server = await startHarness({ mounts: [{ at: "/api/v1/memory", routes: memoryRoutes }], store });
  writeFileSync(KEY_FILE, server.addKey({ teamDefaultLibraryId: "lib-handbook" }));
  as = ["--server", server.url, "--key-file", KEY_FILE];
});
afterAll(async () => {
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  await sql`delete from atoms`.execute(store.db);
});

const exported = async (library: string) => {
  const { code, out, err } = await keyplane(["memory-export", "--library", library, ...as]);
  expect([code, err]).toEqual([0, ""]);
  return out;
};
const importing = (text: string, ...flags: string[]) => {
  writeFileSync(FILE, text);
  return keyplane(["memory-import", FILE, ...flags, ...as]);
};

type Line = { id: string; links: { rel: string; id: string }[] };

/** The lines with each id replaced by its place in the file. */
function withoutIds(text: string): unknown[] {
  const lines: Line[] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const places = new Map(lines.map(({ id }, place) => [id, place]));
  return lines.map(({ id, links, ...line }) => ({
    ...line,
    id: places.get(id),
    links: links.map((link) => ({ rel: link.rel, id: places.get(link.id) })),
  }));
}

test("a library that is exported, imported into another and exported again is the same but for its ids", async () => {
  const reach = { teamId: "team-a", libraryIds: null };
  const ids: string[] = [];
  for (let i = 0; i < 230; i++) {
    const links = ids.slice(-2).map((id) => ({ rel: "follows", id }));
    const fields = { content: `Statement ${i}: ü 東 "\n`, tags: [`t${i % 3}`], importance: i % 10, metadata: { i } };
    const draft = { ...PLAIN, ...fields, links, libraryId: "lib-diary", at: Date.UTC(2024, 0) + (i >> 1) };
    const atom = await insertAtom(store.db, reach, { ...draft, updatedAt: Date.UTC(2025, 0) + i });
    ids.push(atom?.id ?? "");
  }
  // The oldest leads to the newest too, as a correction may make it.
  const links = JSON.stringify([
    { rel: "last", id: ids.at(-1) },
    { rel: "next", id: ids[1] },
  ]);
  await setLinks(ids[0] ?? "", links);
  const first = await exported("diary");
  expect(first.trimEnd().split("\n")).toHaveLength(230);
  const { code, out, err } = await importing(first, "--library", "handbook");
  expect([code, out, err]).toEqual([0, "Imported 230 atoms.\n", ""]);
  const [oldest, ...rest] = withoutIds(await exported("handbook")).toReversed();
  const [expected, ...others] = withoutIds(first).toReversed();
  expect(rest).toEqual(others);
  // Its links were set when the newest was there, by a correction.
  expect(oldest).toEqual({ ...(expected as object), updated: expect.any(String) });
});

async function setLinks(id: string, links: string): Promise<void> {
  await sql`update atoms set links = ${links}::jsonb where id = ${id}::uuid`.execute(store.db);
}

test("memory-import reads the file of server-memory into the default library, and says what was dropped", async () => {
  const lines = [
    { type: "entity", name: "Anna", entityType: "person", observations: ["likes tea"] },
    { type: "entity", name: "Keyplane", entityType: "project", observations: [] },
    { type: "relation", from: "Anna", to: "Keyplane", relationType: "maintains" },
    { type: "relation", from: "Anna", to: "Absent", relationType: "knows" },
  ];
  const { code, out } = await importing(lines.map((line) => JSON.stringify(line)).join("\n"));
  expect([code, out]).toEqual([0, "Imported 2 atoms.\nLinks that lead to no atom, and were dropped: 1.\n"]);
  const [project, anna] = withoutIds(await exported("handbook"));
  expect(project).toMatchObject({ content: "Keyplane (project)", tags: ["project"], links: [] });
  expect(anna).toMatchObject({ content: "Anna (person)\n- likes tea", links: [{ rel: "maintains", id: 0 }] });
});

test("memory-import keeps an atom's links to what is there already where it sets those to later ones too", async () => {
  const reach = { teamId: "team-a", libraryIds: null };
  const there = await insertAtom(store.db, reach, { ...PLAIN, content: "there", libraryId: "lib-diary", at: 0 });
  const links = ["last", there?.id ?? "", "nowhere"].map((id) => ({ rel: "leads to", id }));
  const others = Array.from({ length: 100 }, (_, i) => ({ content: `${i}` }));
  const lines = [{ id: "last", content: "last" }, ...others, { content: "first", links }];
  const { code, out } = await importing(lines.map((line) => JSON.stringify(line)).join("\n"));
  expect([code, out]).toEqual([0, "Imported 102 atoms.\nLinks that lead to no atom, and were dropped: 1.\n"]);
  const { rows } = await sql<{ led: string[] }>`select array(select other.content
    from jsonb_array_elements(a.links) with ordinality link (json, place) join atoms other on other.id = (json ->> 'id')::uuid
    order by place) as led from atoms a where content = 'first'`.execute(store.db);
  expect(rows).toEqual([{ led: ["last", "there"] }]);
});

test("memory-import sends no more at once than a call stores in time", async () => {
  const lines = Array.from({ length: 5 }, (_, i) => ({ content: `${i}`.repeat(40_000) }));
  const before = server.counted.length;
  const { code, out } = await importing(lines.map((line) => JSON.stringify(line)).join("\n"));
  expect([code, out]).toEqual([0, "Imported 5 atoms.\n"]);
  expect(server.counted.slice(before)).toEqual(["atoms.import", "atoms.import", "atoms.import"]);
});

test("b119: memory-import sends a batch again whose answer was lost, and imports it once", async (context) => {
  const proxy = await startTcpProxy({ host: "127.0.0.1", port: server.port });
  context.onTestFinished(() => proxy.close());
  const lost = proxy.resetAt("answered", () => (bytes) => bytes.includes("The second."));
  writeFileSync(FILE, '{"content":"The first."}\n{"content":"The second."}\n');
  const through = ["--server", `http://127.0.0.1:${proxy.port}`, "--key-file", KEY_FILE];
  const { code, out, err } = await keyplane(["memory-import", FILE, ...through]);
  await lost;
  expect([code, out, err]).toEqual([0, "Imported 2 atoms.\n", ""]);
  const { rows } = await sql`select content from atoms order by id`.execute(store.db);
  expect(rows).toEqual([{ content: "The second." }, { content: "The first." }]);
});

test("memory-import says what is imported where its key may not read the atoms whose links are to be set", async () => {
  writeFileSync(
    WRITER_FILE,
    server.addKey({ scopes: scopeSet(["memory:write"]), teamDefaultLibraryId: "lib-handbook" }),
  );
  const last = { id: "last", content: "last", created: "2024-02-01T00:00:00Z" };
  const first = Array.from({ length: 101 }, (_, i) => ({
    ...{ content: `${i}`, created: "2024-01-01T00:00:00Z" },
    links: [{ rel: "leads to", id: "last" }],
  }));
  writeFileSync(FILE, [last, ...first].map((line) => JSON.stringify(line)).join("\n"));
  const { code, err } = await keyplane(["memory-import", FILE, "--server", server.url, "--key-file", WRITER_FILE]);
  expect(code).toBe(1);
  expect(err).toContain("403");
  expect(err).toContain("all 102 atoms are imported, and stay");
  expect(err).toContain("memory:read");
});

test("memory-import names the line of the file that a server refuses, and what is imported already", async () => {
  const good = Array.from({ length: 100 }, (_, i) => ({ content: `${i}`, created: "2024-01-01T00:00:00Z" }));
  const bad = { content: "x", importance: 11, created: "2024-02-01T00:00:00Z" };
  const text = [bad, ...good].map((line) => JSON.stringify(line)).join("\n");
  const { code, err } = await importing(text);
  expect(code).toBe(1);
  expect(err).toContain("line 1");
  expect(err).toContain("importance");
  expect(err).toContain("100 atoms are imported already");
  for (const args of [
    ["memory-import", join(folder, "nowhere"), ...as],
    ["memory-import", "-", "--server", server.url, "--key-file", "-"],
    ["memory-export", ...as],
  ]) {
    expect((await keyplane(args)).code).toBe(2);
  }
});

test("what came of an import is a document, too", async () => {
  const { code, out } = await importing('{"content":"One."}\n{"content":"Two."}\n', "-o", "json");
  expect([code, JSON.parse(out)]).toEqual([0, { imported: 2, expired: 0, droppedLinks: 0 }]);
});

test("memory-restore brings back what was forgotten, once it is named by its id", async () => {
  const reach = { teamId: "team-a", libraryIds: null };
  const atom = await insertAtom(store.db, reach, { ...PLAIN, libraryId: "lib-handbook", at: 0 });
  const id = atom?.id ?? "";
  await forgetAtom(store.db, reach, id, null);
  const restoring = (...args: string[]) => keyplane(["memory-restore", ...args, ...as]);
  expect(await restoring(id)).toMatchObject({ code: 0, out: `Restored atom ${id}, revision 1.\n` });
  expect(await findAtoms(store.db, reach, [id])).toEqual([atom]);
  const document = await restoring(id, "-o", "json");
  expect(JSON.parse(document.out)).toMatchObject({ id, content: PLAIN.content, revision: 1 });
  expect(await restoring("x")).toMatchObject({ code: 2, err: expect.stringContaining("the id of an atom") });
  await deleteAtom(store.db, reach, id, null);
  expect(await restoring(id)).toMatchObject({ code: 1, err: expect.stringContaining("to restore") });
});
