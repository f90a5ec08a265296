import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { scopeSet } from "../../domain/access/scopes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { memoryServer } from "./memory-server.ts";

describe("the export of a library", () => {
  const opened = memoryServer(memoryRoutes);
  beforeEach(async () => {
    await sql`update libraries set state = 'active'`.execute(opened().store.db);
  });

  const ask = (path: string, as = opened().key) =>
    fetch(opened().server.url + path, { headers: { authorization: `Bearer ${as}` } });
  const fill = (library: string, atoms: number, metadata = {}) =>
    sql`insert into atoms (library_id, team_id, content, tags, importance, metadata, created_at, updated_at)
      select ${library}, 'team-a', 'Atom ' || n, '{}', 5, ${JSON.stringify(metadata)}::jsonb, to_timestamp(n), to_timestamp(n)
      from generate_series(1, ${atoms}::integer) n`.execute(opened().store.db);

  test("is a line for each of its atoms, the newest first, whichever page they would be on", async () => {
    await fill("lib-diary", 45);
    await fill("lib-handbook", 3);
    const response = await ask("/atoms/export?library=diary");
    expect(response.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    const text = await response.text();
    const lines = text.trimEnd().split("\n");
    const atoms = lines.map((line) => JSON.parse(line));
    expect(atoms.map(({ content }) => content)).toEqual(Array.from({ length: 45 }, (_, i) => `Atom ${45 - i}`));
    expect(atoms[44]).toEqual({
      ...{ id: expect.any(String), content: "Atom 1", tags: [], source: null, importance: 5, metadata: {}, links: [] },
      ...{ expiresAt: null, validFrom: null, validTo: null },
      ...{ created: "1970-01-01T00:00:01.000Z", updated: "1970-01-01T00:00:01.000Z" },
    });
    for (const path of ["/atoms/export", "/atoms/export?library="]) {
      expect((await (await ask(path)).text()).trimEnd().split("\n")).toHaveLength(3);
    }
    expect(await (await ask("/atoms/export?library=a-prod/ops")).text()).toBe("");
  });

  test("b324: has one listener for its end, however many slices it is read in", async () => {
    await fill("lib-diary", 300);
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on("warning", note);
    try {
      const text = await (await ask("/atoms/export?library=diary")).text();
      expect(text.trimEnd().split("\n").length).toBeGreaterThanOrEqual(300);
    } finally {
      process.off("warning", note);
    }
    expect(warnings).toEqual([]);
  });

  test("b58: is of no library beyond the key's reach, and of none without a right to read", async () => {
    await fill("lib-handbook", 3);
    const diaryOnly = opened().server.addKey({ libraryIds: ["lib-diary"] });
    const [denied, absent] = [
      await ask("/atoms/export?library=handbook", diaryOnly),
      await ask("/atoms/export?library=x"),
    ];
    expect([denied.status, absent.status]).toEqual([404, 404]);
    expect((await ask("/atoms/export?library=b/b-notes")).status).toBe(404);
    expect((await ask("/atoms/export", opened().server.addKey())).status).toBe(400);
    const writer = opened().server.addKey({ scopes: scopeSet(["memory:write"]) });
    expect((await ask("/atoms/export?library=diary", writer)).status).toBe(403);
  });

  test.each([
    ["its key is revoked", (as: string) => opened().server.changeKey(as, { state: "revoked" })],
    [
      "its library goes",
      () => sql`update libraries set state = 'retained' where id = 'lib-diary'`.execute(opened().store.db),
    ],
  ])("b62: breaks off where %s while it runs, so that it does not look whole", async (_what, end) => {
    // More than the connection holds, so that the end comes before all of it was read.
    await fill("lib-diary", 400, { much: "x".repeat(50_000) });
    const passing = opened().server.addKey();
    const response = await ask("/atoms/export?library=diary", passing);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    await reader?.read();
    await end(passing);
    const readAll = async () => {
      while (!(await reader?.read())?.done);
    };
    await expect(readAll()).rejects.toThrow();
  });
});
