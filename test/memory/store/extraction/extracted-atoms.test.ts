import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { EXTRACTED } from "../../../../memory/rules/extraction.ts";
import type { AtomFields } from "../../../../memory/store/rows/atom.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { PLAIN } from "../plain-atom.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const DAY = 86_400_000;
/** As many words of what is looked for in both, one of which says the other is wrong. */
const WRITTEN = "The staging database of heron listens on port 5433.";
const FALSE = "The staging database of heron listens on port 6666.";

describeNightlyOnEachEngine("What a model took out of a conversation", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(() => sql`delete from atoms`.execute(opened().db));

  async function save(content: string, fields: Partial<AtomFields>, ageDays: number): Promise<void> {
    const draft = { ...PLAIN, content, ...fields, libraryId: "lib-diary", at: Date.now() - ageDays * DAY };
    await insertAtom(opened().db, TEAM_A, draft);
  }
  const search = { libraryId: "lib-diary", limit: 10 };
  const found = async (query: string) =>
    (await searchAtoms(opened().db, TEAM_A, { ...search, query })).items.map(({ atom }) => atom.content);
  const recalled = async (query: string) =>
    (await recallAtoms(opened().db, TEAM_A, { ...search, query })).atoms.map(({ content }) => content);

  test.each(["staging database heron", "staging database", "on which port does the staging database of heron listen"])(
    "comes behind what was written in equal words, though it is newer and more important: %s",
    async (query) => {
      await save(WRITTEN, { importance: 0 }, 300);
      await save(FALSE, { importance: 10, source: EXTRACTED }, 0);
      await save("Lunch is at noon.", {}, 0);
      expect((await found(query)).slice(0, 2)).toEqual([WRITTEN, FALSE]);
      expect((await recalled(query)).slice(0, 2)).toEqual([WRITTEN, FALSE]);
    },
  );

  test("gives way to what is newer, as everything does", async () => {
    await save(FALSE, { source: EXTRACTED }, 300);
    await save(WRITTEN, {}, 0);
    expect(await recalled("staging database of heron")).toEqual([WRITTEN, FALSE]);
  });

  test("comes first where it alone answers", async () => {
    await save("The staging room is on the second floor.", {}, 0);
    await save(FALSE, { source: EXTRACTED }, 9);
    expect((await found("staging database of heron"))[0]).toBe(FALSE);
    expect((await recalled("staging database of heron"))[0]).toBe(FALSE);
  });
});
