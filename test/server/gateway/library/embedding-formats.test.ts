import { describe, expect, test } from "vitest";
import { checkVectors, EMBEDDING_FORMATS } from "../../../../server/gateway/library/embedding-formats.ts";

describe("The vectors of an upstream", () => {
  const good = [
    [1, 2, 3],
    [0, -1, 0.5],
  ];
  test("are taken where each text has one of finite numbers, all of one length", () => {
    expect(checkVectors(good, 2, undefined)).toEqual(good);
    expect(checkVectors(good, 2, 3)).toEqual(good);
  });

  const NOT_NUMBERS = "the upstream gave a vector that is empty, or has something else than finite numbers";
  test.each([
    ["none at all", undefined, "the upstream's answer has no vectors in the place where they belong"],
    ["too few", good.slice(1), "the upstream gave 1 vectors for 2 texts"],
    ["a hole", Array.from({ length: 2 }), NOT_NUMBERS],
    ["an empty one", [[], []], NOT_NUMBERS],
    ["something else than numbers", [[1], ["1"]], NOT_NUMBERS],
    ["a number beyond single precision", [[1], [1e300]], NOT_NUMBERS],
    ["one without a direction", [[1], [1e-300]], NOT_NUMBERS],
    ["two lengths", [[1], [1, 2]], "the upstream gave a vector of 2 numbers where 1 belong"],
    ["another length than was asked for", [[1], [1]], "the upstream gave a vector of 1 numbers where 3 belong", 3],
    ["too long ones", [Array(4_097).fill(1), [1]], "the upstream gave a vector of more than 4096 numbers"],
  ])("are refused where there is %s", (_, vectors, why, dimensions?) => {
    expect(checkVectors(vectors, 2, dimensions)).toBe(why);
  });

  test("are found by their places in OpenAI's answer, and refused where two have one place", () => {
    const { openai } = EMBEDDING_FORMATS;
    const item = (index: number, embedding: number[]) => ({ index, embedding });
    expect(openai?.vectorsOf({ data: [item(1, [2]), item(0, [1])] })).toEqual([[1], [2]]);
    expect(openai?.vectorsOf({ data: [item(0, [2]), item(0, [1])] })).toBeUndefined();
    expect(openai?.vectorsOf({ data: [item(1e9, [2])] })).toBeUndefined();
    for (const answer of [null, 1, [], {}, { data: {} }]) expect(openai?.vectorsOf(answer)).toBeUndefined();
  });

  test("are in the order of the texts in Gemini's", () => {
    const { gemini } = EMBEDDING_FORMATS;
    expect(gemini?.vectorsOf({ embeddings: [{ values: [1] }, { values: [2] }] })).toEqual([[1], [2]]);
    for (const answer of [null, {}, { embeddings: {} }]) expect(gemini?.vectorsOf(answer)).toBeUndefined();
  });
});
