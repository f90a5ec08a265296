import { beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../../../../store/database/store.ts";
import { describeNightlyOnEachEngine, describeOnEachEngineWithVectors } from "../../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../../../server/memory/libraries.ts";
import { CORPUS_NAMES, type CorpusName, KINDS, type Kind } from "./corpus.ts";
import { askAll, type Model, type StoredCorpus, shareAmongFive, shareNewerFirst, storeCorpus } from "./measure.ts";

/** What share of a kind's questions has its answer among the first five, at the least. */
type Least = (kind: Kind) => number;

/** By words alone, in what share of the contradictions the newer atom comes first, at the least. */
const LEAST_NEWER_FIRST: Readonly<Record<CorpusName, number>> = { chosen: 0.91, "held-out": 0.69 };

function expectAnswers(store: () => Store, name: CorpusName, model: Model, least: Least): void {
  let stored: StoredCorpus;
  beforeAll(async () => {
    await addTeamsWithLibraries(store());
    stored = await storeCorpus(store(), name, model);
  });

  test.for(["search", "recall"] as const)("%s", async (ask) => {
    const answered = await askAll(stored, ask);
    const shares = (Object.keys(KINDS) as Kind[]).map((kind) => {
      return { kind, share: shareAmongFive(answered.filter(({ question }) => question.kind === kind)) };
    });
    expect(shares.filter(({ kind, share }) => share < least(kind))).toEqual([]);
    expect(shareNewerFirst(answered)).toBeGreaterThanOrEqual(model === "perfect" ? 1 : LEAST_NEWER_FIRST[name]);
  });
}

describe.each(CORPUS_NAMES)("By words alone an agent's memory (%s) has the answer among the first five", (name) => {
  const least: Partial<Record<Kind, number>> = {
    // Hardly a word of the answer stands in the question.
    ...{ paraphrase: 0, across: 0 },
    // The newer atom may share no word with the question.
    contradiction: 0.7,
  };
  describeNightlyOnEachEngine("of every kind of question", (store) =>
    expectAnswers(store, name, "none", (kind) => least[kind] ?? 0.9),
  );
});

describe("With a model that understands everything an agent's memory has the answer among the first five", () => {
  describeOnEachEngineWithVectors("of every kind of question", (store) =>
    expectAnswers(store, "held-out", "perfect", () => 0.95),
  );
});
