/** What a search excludes, however an atom writes it. */
import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { searchExcept } from "../../../../memory/store/search/words/search-words.ts";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { PLAIN } from "../plain-atom.ts";

const REACH = { teamId: "team-a", libraryIds: null };

describeNightlyOnEachEngine("an exclusion", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(() => sql`delete from atoms`.execute(opened().db));

  const found = async (contents: readonly string[], query: string) => {
    const { db } = opened();
    for (const content of contents) await insertAtom(db, REACH, { ...PLAIN, content, libraryId: "lib-diary", at: 1 });
    const { items } = await searchAtoms(db, REACH, { query, libraryId: "lib-diary", tags: [], limit: 10 });
    return items.map(({ atom }) => atom.content);
  };

  test.each([
    ["会議は大阪で行われます明日", "会議は東京で行われます今日", "会議 -東京"],
    ["회의는 부산에서 열립니다", "회의는 서울에서 열립니다", "회의는 -서울"],
    ["ประชุมที่เชียงใหม่", "ประชุมที่กรุงเทพวันนี้", "ประชุม -กรุงเทพ"],
    ["lunch at the bar", "lunch at the Cafe", "lunch -café"],
    ["lunch at the bar", "lunch at the Cafe\u0301", "lunch -café"],
    ["a clever plan", "a naïve plan", "plan -naive"],
    ["Plan am Platz", "Plan an der Straße", "plan -strasse"],
    ["scripts in Ｒｕｂｙ", "scripts in Ｐｙｔｈｏｎ", "scripts -python"],
    ["plan for the bär park", "plan for the Café du Monde", 'plan -"cafe du"'],
  ])("leaves %s and no %s", async (kept, hidden, query) => {
    expect(await found([kept, hidden], query)).toEqual([kept]);
    const [asked = "", excluded = ""] = query.split(" -");
    expect(await found([], searchExcept(asked, [excluded.replaceAll('"', "")]))).toEqual([kept]);
  });

  test("hides no word that only has a word within", async () => {
    expect(await found(["plan of the cafeteria für alle"], "plan -cafe")).toHaveLength(1);
  });
});
