import { expect, test } from "vitest";
import { callerDialect } from "../../../../server/gateway/errors/caller-dialect.ts";

const dialectOf = (path: string, method = "POST") => callerDialect(method, path, [], "/", "x-goog-api-key");

test.each([
  ["v1/models/gemini-2.5-pro:generateContent", "gemini"],
  ["v1/models/google/gemini-pro:generateContent", "gemini"],
  ["v1/models/a:b:c", "gemini"],
  ["v1/models/:", "gemini"],
  ["v1/models/a:b/c", "openai"],
  ["v1/models/a:b/", "openai"],
  ["v1/models/gpt-9", "openai"],
  ["v1/models:generateContent", "openai"],
  ["v1/files/a:b", "openai"],
])("a POST of %s is answered in the format of %s", (path, dialect) => {
  expect(dialectOf(path)).toBe(dialect);
  expect(dialectOf(path, "GET"), "an id may have a colon").toBe("openai");
});

/** The quickest of a few, in milliseconds. */
function timeOf(path: string): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    dialectOf(path);
    return performance.now() - start;
  });
  return Math.min(...times);
}

test.each([":", '":"', ":%3A"])("b83: a path of many %s takes about as long as any other", (piece) => {
  const hostile = `v1/models/${piece.repeat(15_000)}/`;
  const harmless = `v1/models/${"x".repeat(hostile.length - 11)}/`;
  // One that is read again from each colon takes ten thousand times as long.
  expect(timeOf(hostile) / timeOf(harmless)).toBeLessThan(200);
});
