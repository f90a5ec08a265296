import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Reach } from "../../../domain/access/reach.ts";
import { listAtoms } from "../../../memory/store/lists/atom-list.ts";
import { listRevisions } from "../../../memory/store/lists/atom-revisions.ts";
import type { AtomFields } from "../../../memory/store/rows/atom.ts";
import { findAtoms } from "../../../memory/store/rows/atoms.ts";
import { recallAtoms } from "../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../memory/store/search/atom-search.ts";
import { correctAtom, insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { forgetAtom, restoreAtom } from "../../../memory/store/writes/forgotten-atoms.ts";
import { InvalidAtomError } from "../../../store/database/errors.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../libraries.ts";
import { PLAIN } from "./plain-atom.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const NOW = Date.now();
const DAY = 86_400_000;
const [MARCH, MAY, JULY] = [Date.UTC(2025, 2), Date.UTC(2025, 4), Date.UTC(2025, 6)];

describeNightlyOnEachEngine("when the statement of an atom is true", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(() => sql`delete from atoms`.execute(opened().db));

  async function save(content: string, fields: Partial<AtomFields> = {}) {
    const draft = { ...PLAIN, content, tags: ["price"], ...fields, libraryId: "lib-diary", at: NOW };
    const atom = await insertAtom(opened().db, TEAM_A, draft);
    if (atom === undefined) throw new Error("no atom was stored");
    return atom;
  }
  const search = { query: "price of tea", libraryId: "lib-diary", limit: 10 };
  const page = { libraryId: "lib-diary", after: null, limit: 10 };
  const contents = (atoms: readonly { content: string }[]) => atoms.map(({ content }) => content);
  const found = async (more = {}) =>
    contents((await searchAtoms(opened().db, TEAM_A, { ...search, ...more })).items.map(({ atom }) => atom));
  const recalled = async (more = {}) =>
    contents((await recallAtoms(opened().db, TEAM_A, { ...search, ...more })).atoms);

  test("is kept with the atom, its revisions, and while it is forgotten", async () => {
    const { db } = opened();
    const { id } = await save("The price of tea is 10.", { validFrom: MARCH, validTo: MAY });
    const change = { validFrom: null, expected: 1, at: NOW };
    expect(await correctAtom(db, TEAM_A, id, change)).toMatchObject({ atom: { validFrom: null, validTo: MAY } });
    await forgetAtom(db, TEAM_A, id, null);
    expect(await restoreAtom(db, TEAM_A, id)).toMatchObject({ validFrom: null, validTo: MAY });
    expect((await listRevisions(db, TEAM_A, id, { before: null, limit: 5 }))?.items).toMatchObject([
      { revision: 2, validFrom: null, validTo: MAY },
      { revision: 1, validFrom: MARCH, validTo: MAY },
    ]);
  });

  test("a correction that would have it end before it begins is refused, whichever of both it changes", async () => {
    const { id } = await save("The price of tea is 10.", { validFrom: MARCH, validTo: MAY });
    const correct = (changes: Partial<AtomFields>) =>
      opened()
        .db.transaction()
        .execute((tx) => correctAtom(tx, TEAM_A, id, { ...changes, expected: null, at: NOW }));
    for (const changes of [{ validFrom: MAY }, { validFrom: JULY }, { validTo: MARCH }]) {
      await expect(correct(changes)).rejects.toEqual(
        new InvalidAtomError(
          '"validTo" is not after "validFrom": give a later one, or null for one of them where it is not known.',
        ),
      );
    }
    expect(await findAtoms(opened().db, TEAM_A, [id])).toMatchObject([{ revision: 1, validFrom: MARCH, validTo: MAY }]);
    expect(await correct({ validFrom: MAY, validTo: JULY })).toMatchObject({ kind: "corrected" });
  });

  test("asOf has lists, searches and what is recalled find what is true at a moment, and nothing else", async () => {
    const { db } = opened();
    await save("The price of tea is 8.", { validTo: MARCH });
    await save("The price of tea is 10.", { validFrom: MARCH, validTo: MAY });
    await save("The price of tea is 12.", { validFrom: MAY });
    await save("The price of tea is in euros.");
    const of = (...prices: readonly (number | string)[]) => prices.map((price) => `The price of tea is ${price}.`);
    for (const [asOf, expected] of [
      [MARCH - 1, of("in euros", 8)],
      [MARCH, of("in euros", 10)],
      [MAY - 1, of("in euros", 10)],
      [MAY, of("in euros", 12)],
    ] as const) {
      const questions: Record<string, () => Promise<string[]>> = {
        list: async () => contents((await listAtoms(db, TEAM_A, { ...page, asOf })).items),
        tag: async () => contents((await listAtoms(db, TEAM_A, { ...page, asOf, tags: ["price"] })).items),
        important: async () => contents((await listAtoms(db, TEAM_A, { ...page, asOf, sort: "importance" })).items),
        search: () => found({ asOf }),
        "search in another form": () => found({ asOf, query: "prices teas" }),
        newest: () => found({ asOf, sort: "newest" }),
        recall: () => recalled({ asOf }),
      };
      for (const [name, ask] of Object.entries(questions)) {
        expect((await ask()).toSorted(), `${name} ${asOf}`).toEqual(expected.toSorted());
      }
    }
  });

  test("without asOf all of them are found, and what is over or to come behind what is true now", async () => {
    // Each ranks before the next by its words.
    await save("Price of tea, price of tea: 10.", { validTo: MAY });
    await save("Price of tea, price of tea, from 2999 on: 20.", { validFrom: Date.UTC(2999, 0) });
    await save("The price of tea in the shop around the corner is 12.", { validFrom: MAY, validTo: NOW + 400 * DAY });
    await save("The price of tea in the shop at the harbour is 13, as the waiter says.");
    for (const [name, ask] of Object.entries({ found, recalled })) {
      const answer = await ask();
      expect(answer, name).toHaveLength(4);
      expect(
        answer.slice(0, 2).every((content) => content.startsWith("The price")),
        `${name}: ${answer}`,
      ).toBe(true);
    }
    const past = await found({ asOf: MAY - 1 });
    expect(past[0], "then it was true").toBe("Price of tea, price of tea: 10.");
    const newest = await found({ sort: "newest" });
    expect(newest.at(-1), "another order stays").toBe("Price of tea, price of tea: 10.");
  });
});
