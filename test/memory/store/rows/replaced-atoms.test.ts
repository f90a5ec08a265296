import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import type { AtomFields, AtomLink } from "../../../../memory/store/rows/atom.ts";
import { findReplacements } from "../../../../memory/store/rows/replaced-atoms.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { type SearchSort, searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { correctAtom, deleteAtom, insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { atomEntriesRead } from "../../../env/database/rows-read.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { dropPartsIndex } from "../filled-library.ts";
import { PLAIN } from "../plain-atom.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const OLD = "The payments service listens on port 8080.";
const NEW = "The payments service moved: it listens on port 9090.";
let at = Date.UTC(2026, 10, 20);

describeNightlyOnEachEngine("An atom that another one replaces", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(() => sql`delete from atoms`.execute(opened().db));

  async function save(content: string, fields: Partial<AtomFields> = {}, libraryId = "lib-diary"): Promise<string> {
    const atom = await insertAtom(opened().db, TEAM_A, { ...PLAIN, ...fields, content, libraryId, at: at++ });
    return atom?.id ?? "";
  }
  const replaces = (...ids: string[]): { links: AtomLink[] } => ({ links: ids.map((id) => ({ rel: "replaces", id })) });
  const replacements = async (...ids: string[]) => Object.fromEntries(await findReplacements(opened().db, TEAM_A, ids));
  const asked = { libraryId: "lib-diary", limit: 10 };
  const found = async (query: string, sort: SearchSort = "rank") => {
    const { items } = await searchAtoms(opened().db, TEAM_A, { ...asked, query, sort });
    return items.map(({ atom, replacedBy }) => [atom.id, replacedBy]);
  };

  test("stands behind it where it is found, and is marked, in a search and in what is recalled", async () => {
    const old = await save(OLD, { importance: 10 });
    const by = await save(NEW, { ...replaces(old), importance: 0 });
    // The guess that what is newer holds is not asked where a link says which.
    await correctAtom(opened().db, TEAM_A, old, { tags: ["corrected"], expected: null, at: at++ });
    const other = await save("The port of the payments service is not open to the world.");
    const places = [
      [by, undefined],
      [other, undefined],
      [old, by],
    ];
    expect((await found("payments service port")).toSorted(byId)).toEqual(places.toSorted(byId));
    const order = (await found("payments service port")).map(([id]) => id);
    expect(order.indexOf(by)).toBeLessThan(order.indexOf(old));
    const recalled = await recallAtoms(opened().db, TEAM_A, { ...asked, query: "port of the payments service" });
    expect([...recalled.replacements]).toEqual([[old, by]]);
    expect(recalled.atoms.at(-1)?.id).toBe(old);
  });

  test("is replaced only as long as what replaces it is true", async () => {
    const old = await save("The price of tea is 10.");
    const by = await save("The price of tea is 12 then.", { ...replaces(old), validFrom: Date.now() + 86_400_000 });
    expect(await replacements(old)).toEqual({});
    expect((await found("price of tea"))[0]).toEqual([old, undefined]);
    const later = Date.now() + 2 * 86_400_000;
    expect(await findReplacements(opened().db, TEAM_A, [old], { asOf: later })).toEqual(new Map([[old, by]]));
    const { items } = await searchAtoms(opened().db, TEAM_A, { ...asked, query: "price of tea", asOf: later });
    expect(items.map(({ atom, replacedBy }) => [atom.id, replacedBy])).toEqual([
      [by, undefined],
      [old, by],
    ]);
  });

  test("keeps its place on the pages of a search, whichever it is cut to", async () => {
    const old = await save("The staging database is heron.");
    const by = await save(`The database ${"has moved, ".repeat(40)}.`, replaces(old));
    const search = { ...asked, query: "staging database heron" };
    const whole = await searchAtoms(opened().db, TEAM_A, search);
    expect(whole.items.map(({ atom }) => atom.id)).toEqual([by, old]);
    const first = await searchAtoms(opened().db, TEAM_A, { ...search, bytes: 1 });
    expect([first.items.map(({ atom }) => atom.id), first.isMore]).toEqual([[by], true]);
    const next = await searchAtoms(opened().db, TEAM_A, { ...search, after: { at: 1, id: by } });
    expect([next.items.map(({ atom }) => atom.id), next.isMore]).toEqual([[old], false]);
  });

  test("comes in the order that is asked for, marked", async () => {
    const old = await save(OLD);
    const by = await save(NEW, replaces(old));
    expect(await found("payments", "oldest")).toEqual([
      [old, by],
      [by, undefined],
    ]);
    expect(await found("payments")).toEqual([
      [by, undefined],
      [old, by],
    ]);
  });

  test("is found by what it alone says, behind what replaces it where that is near", async () => {
    const old = await save("The zebra crossing of the harbour is closed.");
    const by = await save("The harbour has a bridge now.", replaces(old));
    expect(await found("zebra")).toEqual([[old, by]]);
    expect(await found("zebra harbour")).toEqual([
      [by, undefined],
      [old, by],
    ]);
  });

  test("is recalled behind what replaces it, also where that has no word of the topic, within what is asked for", async () => {
    const old = await save("The staging database is on host tern.", { tags: ["ops"] });
    const others = [];
    for (let n = 0; n < 4; n++) others.push(await save(`Note ${n} on the staging database.`, { tags: ["ops"] }));
    const by = await save("Everything of it moved to kestrel.", replaces(old));
    const recall = async (more: object = {}) => {
      const search = { ...asked, query: "host of the staging database", ...more };
      return (await recallAtoms(opened().db, TEAM_A, search)).atoms.map(({ id }) => id);
    };
    const recalled = await recall();
    expect(recalled[0]).toBe(by);
    expect(recalled.toSorted()).toEqual([old, by, ...others].toSorted());
    expect((await recall({ limit: 1 }))[0]).toBe(by);
    expect(await recall({ tags: ["ops"] })).not.toContain(by);
    expect((await recall({ tags: ["ops"] }))[0]).toBe(old);
    expect((await found("host tern"))[0]).toEqual([old, by]);
  });

  test("is replaced by the end of a chain, by the newest of several, and by none in a circle", async () => {
    const [c, several] = [await save("one c"), await save("one several")];
    const b = await save("one b", replaces(c, several));
    const a = await save("one a", replaces(b));
    expect((await replacements(c))[c]).toBe(a);
    expect(await replacements(a, b, c)).toEqual({ [c]: a, [b]: a });
    const newest = await save("one newest", replaces(several));
    expect((await replacements(several))[several]).toBe(newest);
    await correctAtom(opened().db, TEAM_A, c, { ...replaces(a), expected: null, at });
    expect(await replacements(a, b, c)).toEqual({});
    await correctAtom(opened().db, TEAM_A, newest, { ...replaces(newest, several), expected: null, at });
    expect(await replacements(newest, several)).toEqual({ [several]: newest });
  });

  test("is followed a bounded number of steps, and not at once to the end of a longer chain", async () => {
    const chain = [await save("step 0")];
    for (let n = 1; n <= 15; n++) chain.push(await save(`step ${n}`, replaces(chain.at(-1) ?? "")));
    const [first = "", ...rest] = chain;
    const { [first]: end = "" } = await replacements(first);
    expect(rest).toContain(end);
    expect(await replacements(...chain)).toEqual(
      Object.fromEntries(chain.slice(0, -1).map((id) => [id, chain.at(-1)])),
    );
  });

  test("is present again once what replaces it is deleted, has expired, or says no more that it does", async () => {
    const old = await save(OLD);
    const { db } = opened();
    const deleted = await save(NEW, replaces(old));
    expect(await replacements(old)).toEqual({ [old]: deleted });
    await deleteAtom(db, TEAM_A, deleted, null);
    expect(await replacements(old)).toEqual({});
    const expired = await save(NEW, replaces(old));
    await sql`update atoms set expires_at = now() where id = ${expired}::uuid`.execute(db);
    expect(await replacements(old)).toEqual({});
    const corrected = await save(NEW, replaces(old));
    await correctAtom(db, TEAM_A, corrected, { links: [{ rel: "explains", id: old }], expected: null, at });
    expect(await replacements(old)).toEqual({});
  });

  test("b58: is not replaced by an atom of another library, nor by one that the caller may not reach", async () => {
    const old = await save(OLD);
    const elsewhere = await save(NEW, replaces(old), "lib-handbook");
    expect(await found("payments")).toEqual([[old, undefined]]);
    await sql`update atoms set team_id = 'team-b', library_id = 'lib-b-notes' where id = ${elsewhere}::uuid`.execute(
      opened().db,
    );
    expect(await replacements(old)).toEqual({});
    const here = await save(NEW, replaces(old));
    expect(await findReplacements(opened().db, { teamId: "team-a", libraryIds: ["lib-handbook"] }, [old])).toEqual(
      new Map(),
    );
    expect(await replacements(old)).toEqual({ [old]: here });
  });

  test("b87: only atoms that replace one of these are read, however many there are", async () => {
    const { db } = opened();
    const old = await save(OLD);
    const by = await save(NEW, replaces(old));
    await dropPartsIndex(db);
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at, links)
      select 'lib-diary', 'team-a', 'atom ' || n, '{}', 5, now(), now(), case when n % 2 = 0 then '[]' else
        jsonb_build_array(jsonb_build_object('rel', case when n % 4 = 1 then 'replaces' else 'explains' end, 'id', gen_random_uuid()))
      end from generate_series(1, 3000) n`.execute(db);
    await db.connection().execute(async (connection) => {
      const before = await atomEntriesRead(connection);
      expect(await findReplacements(connection, TEAM_A, [old])).toEqual(new Map([[old, by]]));
      expect((await atomEntriesRead(connection)) - before).toBeLessThan(30);
    });
  });
});

function byId([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}
