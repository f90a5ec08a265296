import { beforeAll, expect, test } from "vitest";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { type CorpusQuestion, grouped, QUESTIONS, recallAtTen, storeCorpus } from "./corpus/measure.ts";

const REACH = { teamId: "team-a", libraryIds: null };
const AT_LEAST = 0.9;

describeNightlyOnEachEngine("a memory in five languages", (opened) => {
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    await storeCorpus(opened().db, "lib-diary", "team-a");
  });

  const search = { libraryId: null, tags: [], limit: 10 };
  const asks = {
    "a search": async (query: string) =>
      (await searchAtoms(opened().db, REACH, { ...search, query })).items.map(({ atom }) => atom.content),
    memory_recall: async (query: string) =>
      (await recallAtoms(opened().db, REACH, { ...search, query })).atoms.map(({ content }) => content),
  };

  test.for(Object.entries(asks))("%s finds what answers a question among the first ten", async ([name, ask]) => {
    // By day each of them is asked one half.
    const half = name === "a search" ? 0 : 1;
    const questions = QUESTIONS.filter((_, n) => NIGHTLY || n % 2 === half);
    const found = new Map<CorpusQuestion, readonly string[]>();
    for (const each of questions) found.set(each, await ask(each.question));
    const groups = [
      ["all", questions] as const,
      ...grouped(questions, ({ isHeldOut }) => (isHeldOut ? "held out" : "not held out")),
      ...grouped(questions, ({ kind }) => kind),
      ...grouped(questions, ({ language }) => language),
    ];
    const recalls = groups.map(([name, asked]) => [name, recallAtTen(asked, found)] as const);
    expect(recalls.filter(([, recall]) => recall < AT_LEAST)).toEqual([]);
  });
});
