import { sql } from "kysely";
import { expect, test } from "vitest";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { SEARCH_BOUNDS } from "../../../../memory/store/search/candidates/search-bounds.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { type StoredAtom, storeAged } from "./recall/stored.ts";

const REACH = { teamId: "team-a", libraryIds: null };
const LIBRARY = "lib-diary";
/** So few that the sample is a small part of the library. */
const FEW = { ...SEARCH_BOUNDS, sample: 20, similarSample: 20 };

function aged(content: string, ageDays: number, importance = 5): StoredAtom {
  return { content, ageDays, importance };
}

describeNightlyOnEachEngine("What comes first in what is recalled", (store) => {
  const given = async (...atoms: StoredAtom[]) => {
    await sql`truncate atoms, libraries, teams cascade`.execute(store().db);
    await addTeamsWithLibraries(store());
    await storeAged(store().db, { libraryId: LIBRARY, teamId: "team-a" }, atoms);
  };
  const search = { libraryId: LIBRARY, tags: [], limit: 10 };
  const recalled = async (query: string, bounds = SEARCH_BOUNDS) =>
    (await recallAtoms(store().db, REACH, { ...search, query }, bounds)).atoms.map(({ content }) => content);
  const found = async (query: string) =>
    (await searchAtoms(store().db, REACH, { ...search, query })).items.map(({ atom, match }) => [atom.content, match]);

  test("a whole answer of a year ago comes before new and important atoms with some of its words", async () => {
    const answer = "The harvester of greenhouse seven is calibrated with the blue gauge.";
    const news = ["Lunch", "The gate", "Parking", "The roof", "The fence"];
    await given(
      aged(answer, 390, 0),
      ...news.map((of, day) => aged(`${of} at greenhouse seven has another colour now.`, day, 10)),
    );
    expect((await recalled("with which gauge is the harvester of greenhouse seven calibrated"))[0]).toBe(answer);
  });

  test("a long question in a script without spaces finds what has its last words alone", async () => {
    const answer = "首页列表缓存十分钟，库存数据永远不缓存。";
    const others = Array.from({ length: 12 }, (_, n) => aged(`第${n}次会议我们准备讨论午饭。`, n));
    await given(aged(answer, 90), ...others);
    expect((await recalled("我们打算改动商城的加载逻辑，想先知道库存数据能不能缓存"))[0]).toBe(answer);
  });

  test.each([
    ["k8s upgrade", "The kubernetes cluster is upgraded in May."],
    ["postgresql vacuum", "The pg replica has its vacuum on Sundays."],
    ["wifi password", "The Wi-Fi password hangs in the kitchen."],
    ["utf8 export", "An export is written as UTF-8."],
    ["infra1234", "INFRA-1234 is about leaking sockets."],
    ["node 26", "The image runs Node.js v26 since March."],
  ])("%s finds what has it in another spelling", async (query, answer) => {
    const words = query.split(" ");
    const others = Array.from({ length: 8 }, (_, n) =>
      aged(`Note ${n} on the ${words.at(-1)?.replace(/\d+/, "") || "node"} of ${n}`, n),
    );
    await given(aged(answer, 90), ...others);
    expect((await recalled(query))[0]).toBe(answer);
  });

  test("of more atoms with one of the rare words than are compared, those with the most of them are", async () => {
    const answer = "帐篷杆要打包在纸箱里，箱外贴红色标签。";
    const others = Array.from({ length: 400 }, (_, n) =>
      aged(n % 25 === 0 ? `第${n}箱已经打包。` : `Note ${n}`, n / 10),
    );
    await given(...others, aged(answer, 90));
    const bounds = { ...SEARCH_BOUNDS, similar: 20 };
    expect((await recalled("帐篷杆怎么打包，箱外贴什么标签", bounds))[0]).toBe(answer);
  });

  test("of two atoms about the same the newer comes first, whichever has more of the words", async () => {
    const [older, newer] = [
      "The staging database of heron listens on port 5433 of host tern.",
      "Moved: the staging database of heron is on kestrel now, at 6432.",
    ];
    await given(aged(older, 200, 9), aged(newer, 20, 1), ...Array.from({ length: 20 }, (_, n) => aged(`Note ${n}`, n)));
    expect((await recalled("on which port does the staging database of heron listen")).slice(0, 2)).toEqual([
      newer,
      older,
    ]);
  });

  test("an atom with all words of a search gives way where it is a question, frequent words counted, and no look-up", async () => {
    const [older, newer] = [
      "Backups of all databases are copied to the bucket in Frankfurt.",
      "Copies go to the bucket in Lyon instead of Frankfurt.",
    ];
    await given(aged(older, 200), aged(newer, 20), ...Array.from({ length: 20 }, (_, n) => aged(`Note ${n}`, n)));
    const first = async (query: string) => (await found(query))[0]?.[0];
    expect(await first("where are backups of databases copied to")).toBe(newer);
    expect(await first("backups databases copied")).toBe(older);
  });

  test("which atoms are the newest changes nothing in what the words are worth", async () => {
    const atoms = Array.from({ length: 60 }, (_, n) => aged(`${n < 20 ? "apple" : "pear"} number ${n}`, n));
    await given(...atoms);
    await sql`update atoms set updated_at = '2026-11-20'`.execute(store().db);
    const words = async () => (await recalled("apple pear", FEW)).map((content) => content.split(" ")[0]);
    const before = await words();
    await sql`update atoms set created_at = timestamptz '2020-01-01' + (timestamptz '2027-01-01' - created_at)`.execute(
      store().db,
    );
    expect(await words()).toEqual(before);
  });

  test("fewer than five hits of a search are followed by the nearest, unless it has quotes, or an exclusion", async () => {
    const [exact, near] = ["The key of the archive hangs in the kitchen.", "The archive is dusted each spring."];
    await given(aged(exact, 10), aged(near, 5), aged("Nothing of it.", 1));
    expect(await found("archive kitchen")).toEqual([
      [exact, "words"],
      [near, "nearest"],
    ]);
    for (const query of ['archive "kitchen"', "archive kitchen -roof"]) {
      expect(await found(query), query).toEqual([[exact, "words"]]);
    }
  });

  test("the nearest fill a search of five words up to its limit, and one of fewer words up to ten", async () => {
    await given(...Array.from({ length: 20 }, (_, n) => aged(`The archive has a shelf, number ${n}.`, n)));
    const counted = async (query: string, limit: number) =>
      (await searchAtoms(store().db, REACH, { ...search, query, limit })).items.length;
    const question = "who dusts the archive each spring";
    expect([await counted(question, 15), await counted(question, 50)]).toEqual([15, 20]);
    const lookUp = "archive kitchen";
    expect([await counted(lookUp, 15), await counted(lookUp, 4)]).toEqual([10, 4]);
  });

  test("c124: small pages of a search have together the atoms with its words that one large page has", async () => {
    const exact = Array.from({ length: 7 }, (_, n) => aged(`The archive has a kitchen, room ${n}.`, n));
    const misspelt = Array.from({ length: 3 }, (_, n) => aged(`The archvie has a kitchn, floor ${n}.`, 10 + n));
    await given(...exact, ...misspelt);
    const idsByPagesOf = async (limit: number) => {
      const ids: string[] = [];
      for (let isMore = true; isMore; ) {
        const after = { at: ids.length, id: ids.at(-1) ?? "" };
        const asked = { ...search, query: "archive kitchen", limit, after: ids.length === 0 ? null : after };
        const page = await searchAtoms(store().db, REACH, asked);
        ids.push(...page.items.map(({ atom }) => atom.id));
        isMore = page.isMore;
      }
      return ids;
    };
    const whole = await idsByPagesOf(20);
    expect(whole).toHaveLength(10);
    expect(await idsByPagesOf(5)).toEqual(whole);
    expect(await idsByPagesOf(1)).toEqual(whole);
  });

  test("five hits and more are followed by none, and no cursor leads to the nearest", async () => {
    const hits = Array.from({ length: 5 }, (_, n) => aged(`The archive has a kitchen, room ${n}.`, n));
    await given(...hits, aged("The archive is dusted each spring.", 1));
    expect((await found("archive kitchen")).map(([, match]) => match)).toEqual(hits.map(() => "words"));
    await sql`delete from atoms where content like '%room 4.'`.execute(store().db);
    const page = await searchAtoms(store().db, REACH, { ...search, query: "archive kitchen", limit: 4 });
    expect([page.items.length, page.isMore]).toEqual([4, false]);
    expect((await found("archive kitchen")).map(([, match]) => match)).toEqual([
      "words",
      "words",
      "words",
      "words",
      "nearest",
    ]);
  });
});
