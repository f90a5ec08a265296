import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import { findAtoms } from "../../../memory/store/rows/atoms.ts";
import { deleteAtom, insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { forgetAtom } from "../../../memory/store/writes/forgotten-atoms.ts";
import { whoamiRoutes } from "../../../server/whoami/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { startTcpProxy } from "../../env/tcp-proxy.ts";
import { openMemoryStore } from "../../memory/memory-store.ts";
import { PLAIN } from "../../memory/store/plain-atom.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { keyplane } from "../up.ts";

const folder = mkdtempSync(join(tmpdir(), "keyplane-memory-"));
/** More than are sent, or answered, at once. */
const MANY = NIGHTLY ? 230 : 105;
/** By day as many of one file are enough. */
const SOME = NIGHTLY ? MANY : 12;
const FILE = join(folder, "library.jsonl");
const KEY_FILE = join(folder, "key");
const WRITER_FILE = join(folder, "writer");
const NOTHING = { imported: 0, corrected: 0, unchanged: 0, newer: [], expired: 0, droppedLinks: 0, leftOut: [] };
let store: Store;
let server: Harness;
let as: string[];
beforeAll(async () => {
  store = await openMemoryStore();
  const mounts = [
    { at: "/api/v1/memory", routes: memoryRoutes },
    { at: "/api/v1", routes: whoamiRoutes },
  ];
  server = await startHarness({ mounts, store });
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
  const ids = Array.from({ length: MANY }, (_, i) => `019ab2c4-5d6e-7f80-91a2-${String(i).padStart(12, "0")}`);
  const atoms = ids.map((id, i) => ({
    ...{ id, content: `Statement ${i}: ü 東 "\n`, tags: [`t${i % 3}`], importance: i % 10, metadata: { i } },
    links: ids.slice(Math.max(0, i - 2), i).map((before) => ({ rel: "follows", id: before })),
    ...{ created_at: new Date(Date.UTC(2024, 0) + (i >> 1)), updated_at: new Date(Date.UTC(2025, 0) + i) },
  }));
  await sql`insert into atoms (library_id, team_id, id, content, tags, importance, metadata, links, created_at, updated_at)
    select 'lib-diary', 'team-a', a.* from jsonb_to_recordset(${JSON.stringify(atoms)}::jsonb) a (id uuid, content text,
      tags text[], importance float8, metadata jsonb, links jsonb, created_at timestamptz, updated_at timestamptz)`.execute(
    store.db,
  );
  // The oldest leads to the newest too, as a correction may make it.
  const links = JSON.stringify([
    { rel: "last", id: ids.at(-1) },
    { rel: "next", id: ids[1] },
  ]);
  await setLinks(ids[0] ?? "", links);
  const first = await exported("diary");
  expect(first.trimEnd().split("\n")).toHaveLength(MANY);
  const { code, out, err } = await importing(first, "--library", "handbook");
  expect([code, out, err]).toEqual([0, `Imported ${MANY} atoms.\n`, ""]);
  expect(withoutIds(await exported("handbook"))).toEqual(withoutIds(first));
  const again = await importing(first, "--library", "handbook");
  expect(again.out).toBe(`Imported 0 atoms.\nAtoms that were there already: ${MANY}.\n`);
});

async function setLinks(id: string, links: string): Promise<void> {
  await sql`update atoms set links = ${links}::jsonb where id = ${id}::uuid`.execute(store.db);
}

/** The atoms of the default library by what they begin with, with the beginnings of those that they lead to. */
async function stored(): Promise<Record<string, { tags: string[]; revision: number; links: string[] }>> {
  const { rows } = await sql<{ content: string; tags: string[]; revision: number; links: string[] }>`
    select split_part(content, E'\n', 1) as content, tags, revision, array(
      select link ->> 'rel' || ' ' || split_part(other.content, E'\n', 1)
      from jsonb_array_elements(a.links) with ordinality linked (link, place)
      join atoms other on other.id = (link ->> 'id')::uuid order by place) as links
    from atoms a order by content`.execute(store.db);
  return Object.fromEntries(rows.map(({ content, ...row }) => [content, row]));
}

test("memory-import reads the file of server-memory into the default library, and a later version of it corrects", async () => {
  const anna = { type: "entity", name: "Anna", entityType: "person", observations: ["likes tea"] };
  const lines = [
    anna,
    { type: "relation", from: "Anna", to: "Keyplane", relationType: "maintains" },
    { type: "relation", from: "Anna", to: "Absent", relationType: "knows" },
    ...Array.from({ length: SOME }, (_, i) => ({
      type: "entity",
      name: `Other ${i}`,
      entityType: "",
      observations: [],
    })),
    { type: "entity", name: "Keyplane", entityType: "project", observations: ["x".repeat(100_000)] },
  ];
  const reading = (values: object[]) => importing(values.map((line) => JSON.stringify(line)).join("\n"));
  const dropped = "Links that lead to no atom, and were dropped: 1.\n";
  expect(await reading(lines)).toEqual({
    code: 0,
    out: `Imported ${SOME + 3} atoms into the default library, handbook.\n${dropped}`,
    err: "",
  });
  const first = await stored();
  expect(first["Anna (person)"]).toEqual({ tags: ["person"], revision: 1, links: ["maintains Keyplane (project)"] });
  expect(first["Keyplane (continued, 2)"]?.links).toEqual(["continues Keyplane (project)"]);
  const there = `Atoms that were there already: ${SOME + 3}.\n`;
  expect(await reading(lines)).toEqual({
    code: 0,
    out: `Imported 0 atoms into the default library, handbook.\n${there}${dropped}`,
    err: "",
  });
  expect(await stored()).toEqual(first);
  const edited = lines.map((line) => (line === anna ? { ...anna, observations: ["likes coffee"] } : line));
  const { out } = await reading(edited);
  expect(out).toContain("Atoms that were imported before, have changed, and were corrected: 1.\n");
  expect(await stored()).toEqual({ ...first, "Anna (person)": { ...first["Anna (person)"], revision: 2 } });
});

test("memory-import reads what mem0 exports, and names what it cannot import", async () => {
  const memory = (id: string, text: string | null) => ({ id, memory: text, user_id: "anna", categories: ["food"] });
  const document = { results: [memory("1", "Likes tea."), memory("2", null), memory("3", "Has a cat.")] };
  for (const [out, count] of [
    ["Imported 2 atoms into the default library, handbook.", 2],
    ["Imported 0 atoms into the default library, handbook.\nAtoms that were there already: 2.", 2],
  ]) {
    const ended = await importing(JSON.stringify(document, null, 2));
    expect(ended).toMatchObject({ code: 1, out: expect.stringContaining(`${out}\nNot imported: 1.\n  memory 2 of`) });
    expect(Object.keys(await stored())).toHaveLength(Number(count));
  }
  expect((await stored())["Likes tea."]).toMatchObject({ tags: ["food"] });
});

test("memory-import reads a folder of Markdown, whose wikilinks are links; an edited file corrects its atom", async () => {
  const vault = join(folder, "vault");
  mkdirSync(join(vault, ".obsidian"), { recursive: true });
  writeFileSync(join(vault, ".obsidian", "hidden.md"), "hidden");
  writeFileSync(join(vault, "Anna.md"), "---\ntags: [person]\n---\n- maintains [[Keyplane]]\n- knows [[Absent]]\n");
  writeFileSync(join(vault, "Keyplane.md"), "A project of [[anna]]. #tools\n");
  writeFileSync(join(vault, "bad.md"), "---\ntitle: a: b\n---\n");
  writeFileSync(join(vault, "old.md"), `---\natom: 019ab2c4-5d6e-7f80-91a2-b3c4d5e6f708\nimportance: 11\n---\n\nx\n`);
  symlinkSync("/etc", join(vault, "etc"));
  const reading = () => keyplane(["memory-import", vault, ...as]);
  const first = await reading();
  expect([first.code, first.err]).toEqual([1, ""]);
  expect(first.out).toContain(
    "Imported 2 atoms into the default library, handbook.\nLinks that lead to no atom, and were dropped: 1.\nNot imported: 2.\n",
  );
  expect(first.out).toContain("bad.md: its front matter is no YAML on line 2");
  expect(first.out).toMatch(/old\.md: .*"importance" must be <= 10/);
  const atoms = {
    Anna: { tags: ["person"], revision: 1, links: ["maintains Keyplane"] },
    Keyplane: { tags: ["tools"], revision: 1, links: ["links to Anna"] },
  };
  expect(await stored()).toEqual(atoms);
  rmSync(join(vault, "bad.md"));
  rmSync(join(vault, "old.md"));
  writeFileSync(join(vault, "Keyplane.md"), "Edited. #tools [[Anna]]");
  const again = await reading();
  expect([again.code, again.out]).toEqual([
    0,
    "Imported 0 atoms into the default library, handbook.\nAtoms that were imported before, have changed, and were corrected: 1.\nAtoms that were there already: 1.\nLinks that lead to no atom, and were dropped: 1.\n",
  ]);
  expect(await stored()).toEqual({ ...atoms, Keyplane: { ...atoms.Keyplane, revision: 2 } });
});

test("a library that is written as Markdown and imported into another is the same but for its ids, and once", async () => {
  const reach = { teamId: "team-a", libraryIds: null };
  const ids: string[] = [];
  for (let i = 0; i < SOME; i++) {
    const links = ids.slice(-2).map((id) => ({ rel: "follows", id }));
    const fields = {
      content: `../${i % 2 ? "Same" : "same"}: ü 東 "\r\n---\n`,
      tags: [`t${i % 3}`, "yes"],
      metadata: { i, s: "0x1" },
    };
    const times = { validFrom: 1_000 * i, at: Date.UTC(2024, 0) + i, updatedAt: Date.UTC(2025, 0) + i };
    const atom = await insertAtom(store.db, reach, { ...PLAIN, ...fields, ...times, links, libraryId: "lib-diary" });
    ids.push(atom?.id ?? "");
  }
  await setLinks(ids[0] ?? "", JSON.stringify([{ rel: "last", id: ids.at(-1) }]));
  const written = join(folder, "written");
  const exporting = () => keyplane(["memory-export", "--library", "diary", "--markdown", written, ...as]);
  expect(await exporting()).toEqual({ code: 0, out: `Wrote ${SOME} Markdown files into ${written}.\n`, err: "" });
  expect(readdirSync(written)).toHaveLength(SOME);
  expect(await exporting()).toMatchObject({ code: 2, err: expect.stringContaining("has files in it") });
  const reading = (library: string) => keyplane(["memory-import", written, "--library", library, ...as]);
  expect(await reading("handbook")).toEqual({ code: 0, out: `Imported ${SOME} atoms.\n`, err: "" });
  expect(withoutIds(await exported("handbook"))).toEqual(withoutIds(await exported("diary")));
  const there = `Imported 0 atoms.\nAtoms that were there already: ${SOME}.\n`;
  expect((await reading("handbook")).out).toBe(there);
  expect((await reading("diary")).out).toBe(there);

  const [name = ""] = readdirSync(written);
  const file = join(written, name);
  await sql`update atoms set revision = 2, updated_at = now()`.execute(store.db);
  writeFileSync(file, readFileSync(file, "utf8").replace("東", "edited"));
  expect((await reading("handbook")).out).toContain("corrected: 1.\n");
  expect((await reading("diary")).out).toContain(`exported, and were left as they are: 1.\n  ${name}\n`);
});

test("memory-import keeps an atom's links to what is there already where it sets those to later ones too", async () => {
  const reach = { teamId: "team-a", libraryIds: null };
  const there = await insertAtom(store.db, reach, { ...PLAIN, content: "there", libraryId: "lib-diary", at: 0 });
  const links = ["last", there?.id ?? "", "nowhere"].map((id) => ({ rel: "leads to", id }));
  const others = Array.from({ length: 100 }, (_, i) => ({ content: `${i}` }));
  const lines = [{ id: "last", content: "last" }, ...others, { content: "first", links }];
  const { code, out } = await importing(lines.map((line) => JSON.stringify(line)).join("\n"));
  expect([code, out]).toEqual([
    0,
    "Imported 102 atoms into the default library, handbook.\nLinks that lead to no atom, and were dropped: 1.\n",
  ]);
  const { rows } = await sql<{ led: string[] }>`select array(select other.content
    from jsonb_array_elements(a.links) with ordinality link (json, place) join atoms other on other.id = (json ->> 'id')::uuid
    order by place) as led from atoms a where content = 'first'`.execute(store.db);
  expect(rows).toEqual([{ led: ["last", "there"] }]);
});

test("memory-import sends no more at once than a call stores in time", async () => {
  const lines = Array.from({ length: 5 }, (_, i) => ({ content: `${i}`.repeat(40_000) }));
  const before = server.counted.length;
  const { code, out } = await importing(lines.map((line) => JSON.stringify(line)).join("\n"));
  expect([code, out]).toEqual([0, "Imported 5 atoms into the default library, handbook.\n"]);
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
  expect([code, out, err]).toEqual([0, "Imported 2 atoms into the default library, handbook.\n", ""]);
  const { rows } = await sql`select content from atoms order by id`.execute(store.db);
  expect(rows).toEqual([{ content: "The second." }, { content: "The first." }]);
});

test("memory-import sets the links of a key that only writes, too", async () => {
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
  const { code, out } = await keyplane(["memory-import", FILE, "--server", server.url, "--key-file", WRITER_FILE]);
  expect([code, out]).toEqual([0, "Imported 102 atoms into the default library, handbook.\n"]);
  expect((await stored())["0"]?.links).toEqual(["leads to last"]);
});

test("memory-import names the lines of the file that are none, or that a server refuses, and imports the others", async () => {
  const good = Array.from({ length: 100 }, (_, i) => ({ content: `${i}`, created: "2024-01-01T00:00:00Z" }));
  const bad = [
    { importance: 11 },
    { created: "yesterday" },
    { updated: "2024-13-01T00:00:00Z" },
    { id: 7 },
    { links: 1 },
    { aliases: "x" },
    { tags: ["a", "a"] },
  ];
  const lines = [...bad.map((field) => ({ content: "x", ...field })), ...good];
  const { code, out } = await importing([...lines.map((line) => JSON.stringify(line)), '{"content":'].join("\n"));
  expect(code).toBe(1);
  expect(out).toContain("Imported 100 atoms into the default library, handbook.\nNot imported: 8.\n");
  expect(out).toMatch(/ {2}line 108 of .*: it is no JSON$/m);
  for (const [index, field] of ["importance", "created", "updated", "id", "links", "aliases", "tags"].entries()) {
    expect(out).toMatch(new RegExp(`  line ${index + 1} of .*"${field}"`));
  }
  expect(out).not.toContain('"atoms.');
  const others = Array.from({ length: 250 }, () => ({ text: "of another product" }));
  const before = server.counted.length;
  const none = await importing(others.map((line) => JSON.stringify(line)).join("\n"));
  expect([none.code, none.out]).toEqual([1, ""]);
  expect(none.err).toMatch(/line \d+ of .*: It lacks "content"\..*, and so on for 99 more \(nothing was imported\)/);
  expect(server.counted.length - before).toBeLessThanOrEqual(100);
  for (const args of [
    ["memory-import", join(folder, "nowhere"), ...as],
    ["memory-import", "-", "--server", server.url, "--key-file", "-"],
    ["memory-export", ...as],
  ]) {
    expect((await keyplane(args)).code).toBe(2);
  }
});

test("memory-import names what is refused for how a body is built, wherever in it that is, and imports the others", async () => {
  const good = Array.from({ length: 30 }, (_, i) => JSON.stringify({ content: `${i}` }));
  const bad = [
    '{"content":"x","__proto__":"y"}',
    '{"content":"x","metadata":{"a":{"__proto__":{}}}}',
    '{"content":"x","metadata":{"constructor":{"prototype":{}}}}',
    `{"content":"x","metadata":${"[".repeat(99)}${"]".repeat(99)}}`,
    `{"content":"x","tags":[0${",0".repeat(10_000)}]}`,
  ];
  const { code, out, err } = await importing([...bad, ...good].join("\n"));
  expect([code, err]).toEqual([1, ""]);
  expect(out).toContain("Imported 30 atoms into the default library, handbook.\nNot imported: 5.\n");
  for (const [index, why] of ["__proto__", "__proto__", "constructor", "nested", "10000 members"].entries())
    expect(out).toMatch(new RegExp(`  line ${index + 1} of .*${why}`));

  const vault = join(folder, "odd");
  mkdirSync(vault);
  writeFileSync(join(vault, "note.md"), '---\n__proto__: "[[atom]]"\n---\nA note.\n');
  const atom = "atom: 019ab2c4-5d6e-7f80-91a2-b3c4d5e6f709";
  writeFileSync(join(vault, "atom.md"), `---\n${atom}\nmetadata:\n  __proto__: x\n---\n\nAn atom.\n`);
  const read = await keyplane(["memory-import", vault, ...as]);
  expect([read.code, read.err]).toEqual([1, ""]);
  expect(read.out).toContain("Imported 1 atom into the default library, handbook.\n");
  expect(read.out).toMatch(/Not imported: 1\.\n {2}atom\.md: .*__proto__/);
});

test("memory-import leaves out an atom longer than a server takes, the oldest or a later one, and imports the others", async () => {
  for (const length of [120_000, 1_100_000]) {
    const good = ["a", "b", "c"].map((letter) => JSON.stringify({ content: `${letter} ${length}` }));
    const long = JSON.stringify({ content: "x".repeat(length) });
    const { code, out, err } = await importing([...good, long, ...good, long].join("\n"));
    expect([code, err]).toEqual([1, ""]);
    expect(out).toMatch(/^Imported 6 atoms .*\nNot imported: 2\.\n {2}line 8 of .*\n {2}line 4 of .*\n$/);
  }
});

test("memory-import says how much is imported where it cannot go on, and goes on where it is run again", async (context) => {
  const proxy = await startTcpProxy({ host: "127.0.0.1", port: server.port });
  context.onTestFinished(() => proxy.close());
  const lines = Array.from({ length: 150 }, (_, i) => ({ content: `${i}` }));
  writeFileSync(FILE, lines.map((line) => JSON.stringify(line)).join("\n"));
  const lost = proxy.resetAt("answered", () => (bytes) => bytes.includes('"49"'));
  void lost.then(() => proxy.close());
  const through = ["--server", `http://127.0.0.1:${proxy.port}`, "--key-file", KEY_FILE];
  const { code, err } = await keyplane(["memory-import", FILE, ...through]);
  expect(code).toBe(1);
  expect(err).toContain("100 atoms are imported already, and stay: run it again to go on");
  const again = await keyplane(["memory-import", FILE, ...as]);
  expect(again.out).toMatch(/already: 1(00|50)\.\n$/);
  expect(Object.keys(await stored())).toHaveLength(150);
});

test("what came of an import is a document, too", async () => {
  const { code, out } = await importing('{"content":"One."}\n{"content":"Two."}\n', "-o", "json");
  expect([code, JSON.parse(out)]).toEqual([0, { ...NOTHING, imported: 2 }]);
  const again = await importing('{"content":"One."}\n{"content":"Two."}\n', "-o", "json");
  expect(JSON.parse(again.out)).toEqual({ ...NOTHING, unchanged: 2 });
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

test.each([
  ["a key that is bound to it", "bound", []],
  ["a key that serves many, and --subject", "many", ["--subject", "-x"]],
  ["a key that serves many, and --subject=", "many", ["--subject=-x"]],
] as const)("what is a subject's alone is exported by %s, and can be imported elsewhere", async (_by, which, flags) => {
  const rule = { bound: { mode: "Bound", subject: "-x" }, many: { mode: "Required" } } as const;
  const key = server.addKey({ teamDefaultLibraryId: "lib-handbook", subject: rule[which] });
  const ofSubject = join(folder, which);
  writeFileSync(ofSubject, key);
  const by = ["--server", server.url, "--key-file", ofSubject, ...flags];
  await importing(`{"content": "Shared."}\n`, "--library", "diary");
  writeFileSync(FILE, `{"content": "Its own."}\n`);
  expect(await keyplane(["memory-import", FILE, "--library", "diary", ...by])).toMatchObject({ code: 0 });
  const { code, out, err } = await keyplane(["memory-export", "--library", "diary", ...by]);
  expect([code, err]).toEqual([0, ""]);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ content }) => content)).toEqual(["Its own."]);
  expect(await importing(out, "--library", "handbook")).toMatchObject({ code: 0 });
});

test("a key that serves many subjects asks for --subject where none is named", async () => {
  const file = join(folder, "names-none");
  writeFileSync(file, server.addKey({ teamDefaultLibraryId: "lib-handbook", subject: { mode: "Required" } }));
  const by = ["--server", server.url, "--key-file", file];
  const { code, err } = await keyplane(["memory-export", "--library", "diary", ...by]);
  expect(code).toBe(1);
  expect(err).toContain("say whose memory is meant by --subject (400 subject_required)");
});
