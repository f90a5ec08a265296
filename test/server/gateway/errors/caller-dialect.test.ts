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

test.each([
  ["v1/chat/completions", "openai"],
  ["v1/chat", "openai"],
  ["v1/completions/", "openai"],
  ["v1/responses/resp_1/input_items", "openai"],
  ["v1/embeddings", "openai"],
  ["v1/batches/batch_1", "openai"],
  ["v1/messages", "anthropic"],
  ["v1/messages/batches", "anthropic"],
  ["v1beta/anything", "gemini"],
  ["v1beta", "gemini"],
  ["v1beta/batches/batch_1", "gemini"],
  ["upload/v1beta/files", "gemini"],
  ["download/v1beta/files", "gemini"],
  ["v1/cachedContents", "gemini"],
  ["v1/corpora/a", "gemini"],
  ["v1/fileSearchStores", "gemini"],
  ["v1/tunedModels/a:generateContent", "gemini"],
])("%s is a path of %s alone, whichever client asks", (path, dialect) => {
  for (const method of ["GET", "POST", "DELETE"]) {
    expect(callerDialect(method, path, ["anthropic-version", "2023-06-01"], "/", "x-goog-api-key")).toBe(dialect);
    expect(callerDialect(method, path, ["x-goog-api-key", "k"], "/", "x-goog-api-key")).toBe(dialect);
  }
});

test.each([
  "v1/models",
  "v1/models/m",
  "v1/files",
  "v1/operations",
  "v1/messagesx",
  "v1",
  "",
  "upload/v1/files",
  "v2/chat",
])("%s is a path of several formats: the client's head says which", (path) => {
  const ask = (headers: readonly string[]) => callerDialect("GET", path, headers, "/", "x-goog-api-key");
  expect([ask([]), ask(["anthropic-version", "2023-06-01"]), ask(["x-goog-api-key", "k"])]).toEqual([
    "openai",
    "anthropic",
    "gemini",
  ]);
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
