import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { scopeSet } from "../../domain/access/scopes.ts";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { callTool } from "./mcp/tool-calls.ts";
import { memoryServer } from "./memory-server.ts";

const FREEZE = "The deploy freeze ends on Monday.";
const ALIKE = "The deploy freeze ended on Monday.";

describe("atoms that are saved together, or twice", () => {
  const opened = memoryServer(memoryRoutes, mcpRoutes);
  let writer: string;
  beforeAll(async () => {
    writer = opened().server.addKey({ scopes: scopeSet(["memory:write"]), teamDefaultLibraryId: "lib-handbook" });
  });

  const post = (path: string, body: unknown, as?: string) => opened().call("POST", path, body, as);
  const saveByTool = (args: Readonly<Record<string, unknown>>, as = opened().key) =>
    callTool(opened().server, as, "memory_save_atom", args);
  const contents = async () => {
    const { rows } = await sql<{ content: string }>`select content from atoms order by id`.execute(opened().store.db);
    return rows.map(({ content }) => content);
  };

  test("POST /atoms/batch saves them all in their order, with their fields", async () => {
    const atoms = [{ content: "one", tags: ["t"] }, { content: "two", importance: 9 }, { content: "one" }];
    const { status, json } = await post("/atoms/batch", { library: "diary", atoms });
    expect(status).toBe(201);
    expect(json).toEqual({ items: [expect.anything(), expect.anything(), expect.anything()] });
    expect(json.items).toMatchObject(atoms.map((atom) => ({ ...atom, library: "diary", revision: 1 })));
  });

  test.each<[string, unknown, string]>([
    ["none", { atoms: [] }, '"atoms" must NOT have fewer than 1 items'],
    ["51", { atoms: Array.from({ length: 51 }, () => ({ content: "x" })) }, '"atoms" must NOT have more than 50 items'],
    ["one without content", { atoms: [{ content: "x" }, {}] }, '"atoms.1" lacks "content"'],
    ["one with an unknown field", { atoms: [{ content: "x", library: "diary" }] }, 'unknown field "library"'],
    [
      "one whose link leads nowhere",
      { atoms: [{ content: "x" }, { content: "y", links: [{ rel: "r", id: "x" }] }] },
      'In "atoms.1": "links.0.id" names no atom',
    ],
    [
      "one that is never valid",
      {
        atoms: [{ content: "x" }, { content: "y", validFrom: "2027-01-02T00:00:00Z", validTo: "2027-01-01T00:00:00Z" }],
      },
      'In "atoms.1": "validTo" is not after "validFrom"',
    ],
    ["one that says nothing", { atoms: [{ content: "x" }, { content: " \n\u00a0" }] }, 'In "atoms.1": "content" says'],
  ])("b287: a batch of %s is refused with its place, and nothing of it is saved", async (_what, body, why) => {
    const { status, json } = await post("/atoms/batch", body);
    expect([status, json.detail]).toEqual([400, expect.stringContaining(why)]);
    const tool = await saveByTool(body as Record<string, unknown>);
    expect(tool).toMatchObject({ isError: true, text: expect.stringContaining(why) });
    expect(await contents()).toEqual([]);
  });

  test("a batch whose library goes while it is saved leaves nothing", async () => {
    await sql`create function retain() returns trigger language plpgsql as $$ begin
      update libraries set state = 'retained' where id = new.library_id; return null; end $$`.execute(
      opened().store.db,
    );
    await sql`create trigger retain after insert on atoms for each row execute function retain()`.execute(
      opened().store.db,
    );
    const { status } = await post("/atoms/batch", {
      library: "diary",
      atoms: [{ content: "one" }, { content: "two" }],
    });
    await sql`drop trigger retain on atoms`.execute(opened().store.db);
    await sql`drop function retain`.execute(opened().store.db);
    expect([status, await contents()]).toEqual([404, []]);
  });

  test("POST /atoms saves the same statement twice, unless it is asked to report or to refuse that", async () => {
    const first = (await post("/atoms", { content: FREEZE })).json;
    const second = await post("/atoms", { content: FREEZE });
    expect([second.status, second.json.nearDuplicates]).toEqual([201, undefined]);
    const reported = await post("/atoms?duplicates=report", { content: ALIKE });
    expect(reported.status).toBe(201);
    expect(reported.json.nearDuplicates).toHaveLength(2);
    expect(reported.json.nearDuplicates).toContainEqual({ index: 0, id: first.id, similarity: expect.any(Number) });
    const refused = await post("/atoms?duplicates=refuse", { content: FREEZE });
    expect(refused).toMatchObject({
      status: 409,
      json: { code: "conflict", detail: expect.stringContaining(first.id) },
    });
    const batch = await post("/atoms/batch?duplicates=refuse", { atoms: [{ content: "new" }, { content: FREEZE }] });
    expect(batch).toMatchObject({ status: 409, json: { detail: expect.stringContaining("1 as ") } });
    expect((await post("/atoms?duplicates=refuse", { content: "Something else." })).status).toBe(201);
    expect((await post("/atoms?duplicates=maybe", { content: "x" })).status).toBe(400);
    expect(await contents()).toEqual([FREEZE, FREEZE, ALIKE, "Something else."]);
  });

  test("what is saved of the past once more is refused, by REST and by the tool", async () => {
    const history = { content: "We used Jenkins.", validTo: "2022-01-01T00:00:00Z" };
    const { id } = (await post("/atoms", history)).json;
    expect((await post("/atoms?duplicates=refuse", history)).status).toBe(409);
    expect((await saveByTool(history)).structured.nearDuplicates).toMatchObject([{ atom: { id } }]);
  });

  test("memory_save_atom shows the atom that says it already, saves nothing, and saves it where that is asked for", async () => {
    const { structured } = await saveByTool({ content: FREEZE });
    const { id } = structured.atom;
    const again = await saveByTool({ content: ALIKE });
    expect(again).toMatchObject({ isError: false, text: expect.stringContaining("memory_correct_atom") });
    expect(again.structured).toMatchObject({
      ...{
        nearDuplicates: [{ index: 0, atom: { id, content: FREEZE } }],
        note: expect.stringContaining("allowDuplicate"),
      },
    });
    for (const field of ["atom", "atoms"]) expect(again.structured).not.toHaveProperty(field);
    expect(again.text).toContain(id);
    const many = await saveByTool({ atoms: [{ content: "new" }, { content: FREEZE, tags: ["deploy"] }] });
    expect(many.structured).toMatchObject({ nearDuplicates: [{ index: 1, similarity: 1, atom: { id } }] });
    const twice = await saveByTool({ atoms: [{ content: "new" }, { content: "other" }, { content: "New!" }] });
    expect(twice).toMatchObject({
      isError: true,
      text: expect.stringContaining('"atoms.2" says the same as "atoms.0"'),
    });
    expect(await contents()).toEqual([FREEZE]);
    const alike = (await saveByTool({ content: ALIKE, allowDuplicate: true })).structured.atom;
    expect(alike).toMatchObject({ library: "handbook", revision: 1 });
    expect((await saveByTool({ content: FREEZE, library: "diary" })).structured.atom.library).toBe("diary");
  });

  test("what differs by a number is saved and shown beside, and is refused by none", async () => {
    const at = (port: number) => `The payments service listens on port ${port}.`;
    const first = (await saveByTool({ content: at(8080) })).structured.atom;
    const second = await saveByTool({ content: at(9090) });
    expect(second.structured).toMatchObject({
      atom: { revision: 1 },
      nearDuplicates: [{ index: 0, otherNumbers: true, atom: { id: first.id, content: at(8080) } }],
      note: expect.stringContaining('rel "replaces"'),
    });
    expect(second.text).toContain("another number");
    const links = [{ rel: "replaces", id: first.id }];
    const third = await saveByTool({ atoms: [{ content: at(7070), links }, { content: "The kettle is on." }] });
    expect(third.structured).toMatchObject({ atoms: [{}, {}], note: expect.stringContaining("Saved 2 atoms") });
    expect(third.structured.nearDuplicates).toHaveLength(2);
    const mixed = await saveByTool({ atoms: [{ content: at(6060) }, { content: at(9090), importance: 9 }] });
    expect(mixed.structured.note).toContain("Nothing was saved");
    expect(mixed.structured).not.toHaveProperty("atoms");
    for (const [policy, port, shown] of [
      ["report", 5050, 2],
      ["refuse", 4040, 3],
    ] as const) {
      const { status, json } = await post(`/atoms?duplicates=${policy}`, { content: at(port) });
      expect([policy, status, json.nearDuplicates.length]).toEqual([policy, 201, shown]);
      expect(json.nearDuplicates[0]).toEqual({
        index: 0,
        id: expect.any(String),
        similarity: expect.any(Number),
        otherNumbers: true,
      });
    }
    expect((await post("/atoms?duplicates=refuse", { content: at(4040) })).status).toBe(409);
    expect(await contents()).toHaveLength(6);
    expect((await saveByTool({ content: at(1) }, writer)).structured).not.toHaveProperty("nearDuplicates");
  });

  test("memory_save_atom takes one statement or several, and says which field is at the wrong place", async () => {
    const saved = await saveByTool({ atoms: [{ content: "one", tags: ["t"] }, { content: "two" }] });
    const ids: string[] = saved.structured.atoms.map(({ id }: { id: string }) => id);
    const read = await callTool(opened().server, opened().key, "memory_recall", { ids });
    expect(read.structured.items).toMatchObject([{ content: "one", tags: ["t"] }, { content: "two" }]);
    expect(saved.text).toContain("Saved 2 atoms");
    expect(await saveByTool({})).toMatchObject({ isError: true, text: expect.stringContaining('lacks "content"') });
    const both = await saveByTool({ atoms: [{ content: "x" }], tags: ["t"] });
    expect(both).toMatchObject({ isError: true, text: expect.stringContaining('"tags" within each of "atoms"') });
  });

  test("b58: a key that only writes learns of no near-duplicate", async () => {
    await post("/atoms", { content: FREEZE });
    for (const policy of ["report", "refuse"]) {
      const { status, json } = await post(`/atoms?duplicates=${policy}`, { content: FREEZE }, writer);
      expect([status, json.detail]).toEqual([403, expect.stringContaining("memory:read")]);
      expect((await post(`/atoms?duplicates=${policy}`, { content: "Never heard of." }, writer)).status).toBe(403);
    }
    expect((await saveByTool({ content: FREEZE }, writer)).structured).not.toHaveProperty("nearDuplicates");
    expect(await contents()).toEqual([FREEZE, FREEZE]);
  });
});
