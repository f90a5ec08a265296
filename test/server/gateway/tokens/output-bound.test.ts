import { expect, test } from "vitest";
import { outputBound } from "../../../../server/gateway/tokens/output-bound.ts";

test.each<[string, number | undefined]>([
  ['{"max_tokens":100}', 100],
  ['{"max_completion_tokens":30,"max_tokens":20}', 30],
  ['{"max_output_tokens": 7 }', 7],
  ['{"generationConfig":{"maxOutputTokens":9}}', 9],
  ['{"generation_config":{"max_output_tokens":9}}', 9],
  ['{"messages":[{"max_tokens":100}],"metadata":{"max_tokens":5}}', undefined],
  ['{"max_tokens":"100"}', undefined],
  ['{"max_tokens":-1,"x":1e3}', undefined],
  ['{"max_tokens":1e3}', 1_000],
  ['{"max_tokens":{"max_tokens":3}}', undefined],
  ["[]", undefined],
  ["{", undefined],
  ["", undefined],
])("b128: the answer's bound is read from %s: %s", async (body, most) => {
  expect(await outputBound(Buffer.from(body))).toBe(most);
});
