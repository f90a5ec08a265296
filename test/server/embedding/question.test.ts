import { expect, test } from "vitest";
import { createQuestionEmbedder } from "../../../server/embedding/question.ts";

test("b120: a question that one subject has asked is embedded anew for another, and once for each", async () => {
  const asked: string[] = [];
  const embedder = createQuestionEmbedder(
    async ({ texts }) => {
      asked.push(...texts);
      return { kind: "vectors", servedBy: "one", vectors: [[1, 2]] };
    },
    () => 0,
  );
  const space = {
    ...{ digest: "d", publicId: "p", model: "m", askedDimensions: null, servedBy: "one", dimensions: 2 },
    libraries: [{ id: "lib", space: 1 }],
  };
  for (const subject of ["ana", "ben", "ana", undefined, "ben", undefined]) {
    const question = { reach: { teamId: "t", subject }, text: "where?" };
    expect(await embedder.vectorsOf(question, async () => [space])).toEqual([{ space, vector: [1, 2] }]);
  }
  expect(asked).toHaveLength(3);
});
