import { sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { listAtoms } from "../../../../memory/store/lists/atom-list.ts";
import { ATOM_PAGE_BOUNDS, type AtomListFilter } from "../../../../memory/store/lists/atom-pages.ts";
import type { AtomFields, AtomPosition } from "../../../../memory/store/rows/atom.ts";
import { hasFacts, linkFact, metadataFacts } from "../../../../memory/store/rows/atom-facts.ts";
import { positionOf } from "../../../../memory/store/rows/atom-order.ts";
import { owners } from "../../../../memory/store/rows/atom-terms.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { correctAtom, insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { forgetAtom } from "../../../../memory/store/writes/forgotten-atoms.ts";
import { withOrderedPlans } from "../../../../store/database/ordered-plans.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { rowsRead } from "../../../env/database/rows-read.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { dropPartsIndex } from "../filled-library.ts";
import { PLAIN } from "../plain-atom.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const DIARY: Reach = { teamId: "team-a", libraryIds: ["lib-diary"] };
const WALKED = { indexed: 0, walked: 60 };
let at = Date.UTC(2026, 10, 20);

describeNightlyOnEachEngine("What an atom is looked up by besides its words", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));

  async function save(
    content: string,
    fields: Partial<AtomFields> = {},
    libraryId = "lib-diary",
    db = opened().db,
  ): Promise<string> {
    const atom = await insertAtom(db, TEAM_A, { ...PLAIN, ...fields, content, libraryId, at: at++ });
    return atom?.id ?? "";
  }
  const asked = { libraryId: null, after: null, limit: 100 };
  /** The contents of a list, by the index and by a walk. */
  async function listed(filter: AtomListFilter, reach = TEAM_A): Promise<string[]> {
    const [byIndex = [], walked] = await Promise.all(
      [ATOM_PAGE_BOUNDS, WALKED].map(async (bounds) => {
        const { items } = await listAtoms(opened().db, reach, { ...asked, ...filter }, bounds);
        return items.map(({ content }) => content);
      }),
    );
    expect(walked).toEqual(byIndex);
    return byIndex;
  }

  describe("its metadata", () => {
    beforeEach(() => sql`delete from atoms`.execute(opened().db));

    test("has each name with its value as text, whatever else it has", async () => {
      await save("text", { metadata: { ticket: "7", team: "ops" } });
      await save("number", { metadata: { ticket: 7 } });
      await save("another", { metadata: { ticket: "8", "7": "ticket" } });
      await save("long", { metadata: { ticket: "x".repeat(3_000), done: true } });
      await save("none");
      expect(await listed({ metadata: { ticket: 7 } })).toEqual(["number", "text"]);
      expect(await listed({ metadata: { ticket: "7", team: "ops" } })).toEqual(["text"]);
      expect(await listed({ metadata: { ticket: "x".repeat(3_000), done: "true" } })).toEqual(["long"]);
      expect(await listed({ metadata: { ticket: "x".repeat(2_999) } })).toEqual([]);
      expect(await listed({ metadata: { nothing: "7" } })).toEqual([]);
      expect(await listed({ metadata: { "it's a \\ name & more": "" } })).toEqual([]);
    });

    test("b58: is of no other team and of no library beyond the reach", async () => {
      await save("diary", { metadata: { ticket: "7" } });
      const other = await save("handbook", { metadata: { ticket: "7" } }, "lib-handbook");
      expect(await listed({ metadata: { ticket: "7" } }, DIARY)).toEqual(["diary"]);
      await sql`update atoms set team_id = 'team-b', library_id = 'lib-b-notes' where id = ${other}::uuid`.execute(
        opened().db,
      );
      expect(await listed({ metadata: { ticket: "7" } })).toEqual(["diary"]);
    });

    test("narrows a search and what is recalled, also where the newest atoms with the words have another", async () => {
      await save("The harbour is closed.", { metadata: { ticket: "7" } });
      await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
        select 'lib-diary', 'team-a', 'The harbour is open, says note ' || n, '{}', 6, now(), now()
        from generate_series(1, 700) n`.execute(opened().db);
      const bounds = { ...SMALL, similar: 20 };
      const filter = { libraryId: "lib-diary", limit: 10, metadata: { ticket: "7" } };
      for (const query of ["harbour", "the harbuor"]) {
        const { items } = await searchAtoms(opened().db, TEAM_A, { ...filter, query }, bounds);
        expect(items.map(({ atom }) => atom.content)).toEqual(["The harbour is closed."]);
        const { atoms } = await recallAtoms(opened().db, TEAM_A, { ...filter, query }, bounds);
        expect(atoms.map(({ content }) => content)).toEqual(["The harbour is closed."]);
      }
    });
  });

  describe("its links", () => {
    beforeEach(() => sql`delete from atoms`.execute(opened().db));

    test("lead to its neighbours and from them, each once, page by page", async () => {
      const [one, two] = [await save("one"), await save("two", {}, "lib-handbook")];
      const links = [one, two].map((id) => ({ rel: "explains", id }));
      const id = await save("it", { links });
      await save("back", { links: [{ rel: "source", id }] });
      const both = { links: [{ rel: "source", id }, ...links.slice(0, 1)] };
      await correctAtom(opened().db, TEAM_A, one, { links: [{ rel: "answers", id }], expected: null, at });
      await save("others", { links: links.slice(1) });
      await save("more", both);
      const neighbourOf = { id, linked: [one, two] };
      expect(await listed({ neighbourOf })).toEqual(["more", "back", "two", "one"]);
      expect(await listed({ neighbourOf }, DIARY)).toEqual(["more", "back", "one"]);
      const seen: string[] = [];
      for (let after: AtomPosition | null = null; seen.length < 5; ) {
        const page = await listAtoms(opened().db, TEAM_A, { ...asked, neighbourOf, limit: 1, after });
        const [atom] = page.items;
        if (atom === undefined) throw new Error("a page has an atom");
        seen.push(atom.content);
        after = positionOf("newest", atom);
        if (!page.isMore) break;
      }
      expect(seen).toEqual(["more", "back", "two", "one"]);
    });

    test("lead to and from nothing that has expired or is forgotten", async () => {
      const [expired, forgotten] = [await save("expired"), await save("forgotten")];
      const id = await save("it", { links: [expired, forgotten].map((other) => ({ rel: "explains", id: other })) });
      const back = await save("back", { links: [{ rel: "explains", id }] });
      await forgetAtom(opened().db, TEAM_A, forgotten, null);
      await sql`update atoms set expires_at = now() where id = ${expired}::uuid`.execute(opened().db);
      const neighbourOf = { id, linked: [expired, forgotten] };
      expect(await listed({ neighbourOf })).toEqual(["back"]);
      await forgetAtom(opened().db, TEAM_A, back, null);
      expect(await listed({ neighbourOf })).toEqual([]);
    });
  });

  test("b87: of 4,000 atoms those with a value, and those with a link to one, are read by the index, and no others", async () => {
    const { db } = opened();
    await dropPartsIndex(db);
    // What is found, and the least that was read for it: what other sessions have read before may be counted late.
    const read = async (filter: AtomListFilter) => {
      let found: readonly string[] = [];
      const tallies: { rows: number; scans: number }[] = [];
      for (let time = 0; time < 3; time++) {
        const tally = await rowsRead(db, ["atoms"], async (connection) => {
          const { items } = await listAtoms(connection, TEAM_A, { ...asked, ...filter });
          found = items.map((atom) => atom.id);
        });
        tallies.push(tally);
      }
      const least = (count: "rows" | "scans") => Math.min(...tallies.map((tally) => tally[count]));
      return { found, rows: least("rows"), scans: least("scans") };
    };
    await sql`delete from atoms`.execute(db);
    await sql`vacuum analyze atoms`.execute(db);
    const id = await save("it");
    const neighbourOf = { id, linked: [] };
    const metadata = { ticket: 7 };
    // A plan that is kept was made for an empty table.
    for (const filter of [{ neighbourOf }, { metadata }]) await listAtoms(db, TEAM_A, { ...asked, ...filter });
    for (let begun = 0; begun < 4_000; begun += 2_000) {
      await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at, metadata, links)
        select 'lib-diary', 'team-a', 'atom ' || n, '{}', 5, now(), now(),
          case when n % 2 = 0 then '{}' else jsonb_build_object('ticket', n % 1000, 'kind', 'note') end,
          case when n % 3 = 0 then '[]' else jsonb_build_array(jsonb_build_object('rel', 'explains', 'id', gen_random_uuid())) end
        from generate_series(${begun + 1}::integer, ${begun + 2_000}::integer) n`.execute(db);
    }
    const back = await save("back", { links: [{ rel: "explains", id }] });
    const owned = owners(TEAM_A, ["lib-diary"]);
    for (const facts of [linkFact(id), metadataFacts(metadata)]) {
      const { rows } = await withOrderedPlans(db, (tx) =>
        sql<{
          "QUERY PLAN": string;
        }>`explain select a.id from atoms a where ${hasFacts(owned, facts)} limit 100`.execute(tx),
      );
      expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("Bitmap Index Scan on atoms_facts");
    }
    const neighbours = await read({ neighbourOf });
    expect(neighbours).toMatchObject({ found: [back], scans: 0 });
    expect(neighbours.rows).toBeLessThan(20);
    const tickets = await read({ metadata });
    expect(tickets).toMatchObject({ found: expect.objectContaining({ length: 4 }), scans: 0 });
    expect(tickets.rows).toBeLessThan(60);
  });
});

/** Far less than there is. */
const SMALL = {
  ...{ sample: 30, indexed: 300, newest: 50, important: 20 },
  ...{ bytes: 8 << 20, similarSample: 30, similarBytes: 1 << 20 },
};
