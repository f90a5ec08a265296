import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { storeAged } from "./recall/stored.ts";

const MINUTE_DAYS = 1 / 1_440;
const ASKED = "Ana: Where did you go with the children for the long weekend?";
const ANSWER = "Ben: Up to Lerwick, by ferry.";
const QUESTION = "where did they go for the long weekend with the children";

/** Texts of a library, each a minute after the one before if nothing else is said. */
type Said = { readonly content: string; readonly source?: string; readonly minutes?: number };

describeNightlyOnEachEngine("Atoms beside what is found", (store) => {
  const given = async (said: readonly Said[], libraryId = "lib-diary") => {
    await sql`truncate atoms, libraries, teams cascade`.execute(store().db);
    await addTeamsWithLibraries(store());
    let ageDays = 30;
    const atoms = said.map(({ content, source, minutes = 1 }) => {
      ageDays -= minutes * MINUTE_DAYS;
      return { content, ...(source === undefined ? {} : { source }), importance: 5, ageDays };
    });
    return storeAged(store().db, { libraryId, teamId: "team-a" }, atoms);
  };
  const search = { libraryId: null, tags: [], limit: 10, query: QUESTION };
  const reach: Reach = { teamId: "team-a", libraryIds: null };
  const recalled = async (more: Partial<typeof search & { since: number }> = {}, by = reach) =>
    (await recallAtoms(store().db, by, { ...search, ...more })).atoms.map(({ content }) => content);
  const others = Array.from({ length: 20 }, (_, n) => ({ content: `Note ${n} about the fence.`, source: "notes" }));
  const talk = [
    { content: "Ana: Good to see you.", source: "talk-7" },
    { content: ASKED, source: "talk-7" },
    { content: ANSWER, source: "talk-7" },
    { content: "Ben: And how is the new job?", source: "talk-7" },
  ];

  test("the turn after the one with the words is recalled with it, and by a search in a sentence", async () => {
    await given([...others, ...talk]);
    const [first, ...beside] = await recalled();
    expect(first).toBe(ASKED);
    expect(beside.slice(0, 2)).toContain(ANSWER);
    const { items } = await searchAtoms(store().db, reach, search);
    expect(items.map(({ atom, match }) => [atom.content, match])).toContainEqual([ANSWER, "nearest"]);
  });

  test("what is beside it stays behind it, and behind what has as many words itself", async () => {
    const whole = "With the children they go to the harbour for each long weekend.";
    await given([...talk, ...others, { content: whole }]);
    const order = await recalled();
    expect(order.indexOf(ANSWER)).toBeGreaterThan(Math.max(order.indexOf(ASKED), order.indexOf(whole)));
  });

  test.each<[string, Said[]]>([
    [
      "of another source",
      [
        { content: ASKED, source: "talk-7" },
        { content: ANSWER, source: "talk-8" },
      ],
    ],
    ["without a source", [{ content: ASKED }, { content: ANSWER }]],
    [
      "after a longer pause",
      [
        { content: ASKED, source: "talk-7" },
        { content: ANSWER, source: "talk-7", minutes: 31 },
      ],
    ],
  ])("an atom %s is not beside it", async (_, said) => {
    await given([...others, ...said]);
    expect(await recalled()).toContain(ASKED);
    expect(await recalled()).not.toContain(ANSWER);
  });

  test("atoms of one time are beside each other in the order of their ids", async () => {
    const ids = await given([...others, ...talk]);
    await sql`update atoms set created_at = '2026-11-20' where source = 'talk-7'`.execute(store().db);
    const byId = ids.slice(-4).toSorted();
    const asked = byId.indexOf(ids.at(-3) ?? "");
    const { atoms } = await recallAtoms(store().db, reach, search);
    const beside = [byId[asked - 1], byId[asked + 1]].filter((id) => id !== undefined);
    expect(atoms.map(({ id }) => id)).toEqual(expect.arrayContaining(beside));
  });

  test("what a filter, the library or an end hides is not recalled for being beside it", async () => {
    const ids = await given([...others, ...talk]);
    const answer = ids.at(-2);
    expect(await recalled()).toContain(ANSWER);
    await sql`update atoms set updated_at = '2020-01-01' where id = ${answer}`.execute(store().db);
    expect(await recalled({ since: Date.parse("2021-01-01") })).not.toContain(ANSWER);
    await sql`update atoms set expires_at = now() - interval '1 minute' where id = ${answer}`.execute(store().db);
    expect(await recalled()).not.toContain(ANSWER);
    await sql`update atoms set expires_at = null, library_id = 'lib-ops' where id = ${answer}`.execute(store().db);
    expect(await recalled()).not.toContain(ANSWER);
  });
});
