import { expect, test } from "vitest";
import { createQuestionEmbedder } from "../../../memory/embedding/question.ts";

/** Embeds questions in one library of each team, and remembers which it asked the model for. */
function embedQuestions() {
  const asked: string[] = [];
  const embedder = createQuestionEmbedder(
    async ({ texts }) => {
      asked.push(...texts);
      return { kind: "vectors", servedBy: "one", vectors: [[1, 2]] };
    },
    () => 0,
  );
  const ask = (teamId: string, text: string, subject?: string) =>
    embedder.vectorsOf({ reach: { teamId, subject }, text }, async () => [{ ...SPACE, digest: teamId }]);
  return { asked, ask };
}

const SPACE = {
  ...{ digest: "d", publicId: "p", model: "m", askedDimensions: null, servedBy: "one", dimensions: 2 },
  libraries: [{ id: "lib", space: 1 }],
};

test("b120: a question that one subject has asked is embedded anew for another, and once for each", async () => {
  const { asked, ask } = embedQuestions();
  for (const subject of ["ana", "ben", "ana", undefined, "ben", undefined]) {
    expect(await ask("t", "where?", subject)).toEqual([{ space: { ...SPACE, digest: "t" }, vector: [1, 2] }]);
  }
  expect(asked).toHaveLength(3);
});

test("b138: however many questions one team asks, what others ask again is not embedded anew", async () => {
  const { asked, ask } = embedQuestions();
  const questions = Array.from({ length: 20 }, (_, n) => `what is ${n}?`);
  for (const text of questions) await ask("other", text);
  for (let n = 0; n < 1_000; n++) await ask("hostile", `question ${n}`);
  asked.length = 0;
  for (const text of questions) await ask("other", text);
  expect(asked).toEqual([]);
  await ask("hostile", "question 999");
  expect(asked).toEqual([]);
  await ask("hostile", "question 0");
  expect(asked).toEqual(["question 0"]);
});
