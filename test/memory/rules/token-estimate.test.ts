import { expect, test } from "vitest";
import { estimateTokens } from "../../../memory/rules/token-estimate.ts";

test.each([
  ["", 0],
  ["four", 1],
  ["five!", 2],
  ["東京の会議", 5],
  ["회의는 월요일", 7],
  ["API の鍵", 3],
])("%j is estimated at %i tokens", (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});
