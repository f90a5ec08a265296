import { describe, expect, test } from "vitest";
import { scopeSet } from "../../domain/access/scopes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { memoryServer } from "./memory-server.ts";

describe("atoms that come from elsewhere", () => {
  const opened = memoryServer(memoryRoutes);

  const importing = (atoms: unknown, library = "diary", as = opened().key) =>
    opened().call("POST", "/atoms/import", { library, atoms }, as);

  test("keep their fields and times, get new ids, and lead to each other and to what is there", async () => {
    const there = (await opened().call("POST", "/atoms", { content: "Was here before." })).json;
    const [a, b, unknown] = ["a", "00000000-0000-7000-8000-00000000000b", "00000000-0000-7000-8000-00000000000c"];
    const first = {
      ...{ content: "First.", tags: ["t"], source: "s", importance: 9, metadata: { n: 1 } },
      ...{ validFrom: "2024-01-01T00:00:00.000Z", validTo: "2025-01-01T00:00:00.000Z" },
      ...{ expiresAt: "2999-01-01T00:00:00.000Z", created: "2024-01-01T00:00:00.000Z" },
      updated: "2024-02-01T00:00:00.000Z",
    };
    const { status, json } = await importing([
      { ...first, id: a, links: [b, unknown].map((id) => ({ rel: "r", id })) },
      { content: "Second.", id: b, links: [a, there.id].map((id) => ({ rel: "r", id })) },
      { content: "Over.", expiresAt: "2024-01-01T00:00:00Z" },
    ]);
    expect([status, json]).toEqual([
      201,
      {
        ids: [expect.any(String), expect.any(String), null],
        outcomes: ["created", "created", "expired"],
        droppedLinks: 1,
      },
    ]);
    const [idOfA, idOfB] = json.ids;
    expect((await opened().call("GET", `/atoms/${idOfA}`)).json).toEqual({
      ...{ ...first, id: idOfA, library: "diary", revision: 1, links: [{ rel: "r", id: idOfB }] },
    });
    const now = new Date(opened().server.clock.now()).toISOString();
    expect((await opened().call("GET", `/atoms/${idOfB}`)).json).toMatchObject({
      ...{ created: now, updated: now, revision: 1, links: [idOfA, there.id].map((id) => ({ rel: "r", id })) },
    });
    expect((await opened().call("GET", "/atoms?library=diary")).json.items).toHaveLength(2);
  });

  test("are read page by page whenever they were made", async () => {
    const times = ["0001-01-01T00:00:00.000Z", "1914-07-28T11:00:00.000Z", "1969-12-31T23:59:59.999Z"];
    const atoms = times.map((created) => ({ content: created, created }));
    expect((await importing(atoms)).status).toBe(201);
    for (const sort of ["newest", "oldest", "updated", "importance"]) {
      const seen: string[] = [];
      for (let cursor = ""; ; ) {
        const { status, json } = await opened().call(
          "GET",
          `/atoms?library=diary&limit=1&sort=${sort}&cursor=${cursor}`,
        );
        expect([sort, status]).toEqual([sort, 200]);
        seen.push(...json.items.map(({ created }: { created: string }) => created));
        if (json.nextCursor === null) break;
        cursor = json.nextCursor;
      }
      expect(seen, sort).toEqual(sort === "oldest" ? times : times.toReversed());
    }
  });

  test("are known again by their ids where the request says so, by a key that only writes, too", async () => {
    const writer = opened().server.addKey({ scopes: scopeSet(["memory:write"]) });
    const upserting = (atoms: unknown, as: string) =>
      opened().call("POST", "/atoms/import", { library: "diary", upsert: true, atoms }, as);
    const [a, b] = [
      { content: "First.", id: "a" },
      { content: "Second.", id: "b" },
    ];
    const { ids } = (await upserting([a, b], opened().key)).json;
    const again = await upserting(
      [{ content: "Over.", expiresAt: "2024-01-01T00:00:00Z" }, b, { ...a, tags: ["t"] }],
      writer,
    );
    expect(again).toEqual({
      status: 201,
      json: { ids: [null, ids[1], ids[0]], outcomes: ["expired", "unchanged", "corrected"], droppedLinks: 0 },
    });
    expect((await opened().call("GET", `/atoms/${ids[0]}`)).json).toMatchObject({ tags: ["t"], revision: 2 });
    expect((await importing([a])).json).toMatchObject({ outcomes: ["created"] });
  });

  test("b58: an id of an atom in another library, or of another team, is that of a new one", async () => {
    const elsewhere = (await opened().call("POST", "/atoms", { content: "Was here before." })).json;
    const body = { library: "diary", upsert: true, atoms: [{ id: elsewhere.id, content: "Mine." }] };
    const { json } = await opened().call("POST", "/atoms/import", body);
    expect(json).toMatchObject({ outcomes: ["created"] });
    expect(json.ids).not.toContain(elsewhere.id);
    expect((await opened().call("GET", `/atoms/${elsewhere.id}`)).json).toMatchObject({ content: "Was here before." });
  });

  test("b58: lead to no atom beyond the key's reach, and come into no library beyond it", async () => {
    const hidden = (await opened().call("POST", "/atoms", { content: "Hidden." })).json;
    const diaryOnly = opened().server.addKey({ libraryIds: ["lib-diary"] });
    const links = [{ rel: "r", id: hidden.id }];
    const { json } = await importing([{ content: "x", links }], "diary", diaryOnly);
    expect(json.droppedLinks).toBe(1);
    expect((await opened().call("GET", `/atoms/${json.ids[0]}`)).json.links).toEqual([]);
    expect((await importing([{ content: "x" }], "handbook", diaryOnly)).status).toBe(404);
    expect((await importing([{ content: "x" }], "b/b-notes")).status).toBe(404);
  });

  test("c125: show a key that only writes nothing of what an atom says that was changed since", async () => {
    const writer = opened().server.addKey({ scopes: scopeSet(["memory:write"]) });
    const content = "The safe opens with 4711.";
    const { id } = (await opened().call("POST", "/atoms", { content, library: "diary" })).json;
    const outcomesOf = async (guess: string) => {
      const atoms = [{ id, content: guess, updated: "2020-01-01T00:00:00.000Z" }];
      return (await opened().call("POST", "/atoms/import", { library: "diary", upsert: true, atoms }, writer)).json;
    };
    const wrong = await outcomesOf("The safe opens with 4712.");
    expect(wrong).toEqual({ ids: [id], outcomes: ["newer"], droppedLinks: 0 });
    expect(await outcomesOf(content)).toEqual(wrong);
    expect((await opened().call("GET", `/atoms/${id}`)).json).toMatchObject({ content, revision: 1 });
  });

  test.each<[string, unknown, string]>([
    ["none", [], "fewer than 1 items"],
    ["101", Array.from({ length: 101 }, () => ({ content: "x" })), "more than 100 items"],
    [
      "an id twice",
      [{ content: "x", id: "a" }, { content: "y" }, { content: "z", id: "a", expiresAt: "2024-01-01T00:00:00Z" }],
      '"atoms.2" has the "id" of "atoms.0"',
    ],
    ["a revision", [{ content: "x", revision: 3 }], 'unknown field "revision"'],
    ["a time in words", [{ content: "x" }, { content: "x", created: "yesterday" }], '"atoms.1.created" is no time'],
    [
      "a day that is none",
      [{ content: "x" }, { content: "x", updated: "2024-13-01T00:00:00Z" }],
      'In "atoms.1": "updated"',
    ],
    ["30 February", [{ content: "x", created: "2024-02-30T00:00:00Z" }], 'In "atoms.0": "created" is no time'],
    ["a time before all years", [{ content: "x", created: "0000-01-01T00:00:00Z" }], '"created" is no time'],
    ["a time behind all years", [{ content: "x", updated: "9999-12-31T23:59:59-23:59" }], '"updated" is no time'],
    [
      "a change before it was made",
      [{ content: "x", created: "2024-02-01T00:00:00Z", updated: "2024-01-01T00:00:00Z" }],
      '"updated" is before "created"',
    ],
    ["too much metadata", [{ content: "x", metadata: { a: "x".repeat(4_090) } }], 'In "atoms.0": "metadata"'],
  ])("are refused with %s, and none of them is stored", async (_what, atoms, why) => {
    const { status, json } = await importing(atoms);
    expect([status, json.detail]).toEqual([400, expect.stringContaining(why)]);
    expect((await opened().call("GET", "/atoms")).json.items).toEqual([]);
  });
});
