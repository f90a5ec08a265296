import { array, assert, constantFrom, nat, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { mayMention } from "../../../../server/gateway/kept/mentions.ts";
import { ReferenceScan } from "../../../../server/gateway/kept/reference-scan.ts";
import { leastOfFive, threadCpuTimeOf } from "../../../env/cpu-time.ts";
import { examples } from "../../../env/nightly.ts";

test.each([
  '{"file_id":"a"}',
  '{"FileUri":"a"}',
  '{"cachedContent":"cachedContents/a"}',
  '{"cached_content":"cachedContents/a"}',
  '{"CACHED-CONTENT":"cachedContents/a"}',
  '{"\\u0063achedContent":"cachedContents/a"}',
])("b401: a body that may name something is read for it: %s", (body) => {
  expect(mayMention(Buffer.from(body), "application/json")).toBe(true);
});

test.each([
  '{"vector_store_ids":["a"]}',
  '{"VectorStoreId":"a"}',
  '{"vector_\u017ftore_ids":["a"]}',
  '{"vector_\\u017ftore_ids":["a"]}',
  '{"vector_\ufb06ore_ids":["a"]}',
])("b413: a body that may name a vector store is read for it: %s", (body) => {
  expect(mayMention(Buffer.from(body), "application/json")).toBe(true);
});

test.each([
  '{"tools":[{"fileSearch":{"fileSearchStoreNames":["a"]}}]}',
  '{"tools":[{"file_search":{"file_search_store_names":["a"]}}]}',
  '{"file\u017fearch\u017ftorenames":["a"]}',
  '{"file_\\u0073earch_store_names":["a"]}',
])("b477: a body that may name a file search store is read for it: %s", (body) => {
  expect(mayMention(Buffer.from(body), "application/json")).toBe(true);
});

test.each([
  '{"thread":{"previous_message_id":"a"}}',
  '{"thread":{"PreviousMessageId":"a"}}',
  '{"thread":{"previou\u017f_message_id":"a"}}',
  '{"thread":{"previous_me\\u0073sage_id":"a"}}',
])("b449: a body that may go on from a message is read for it: %s", (body) => {
  expect(mayMention(Buffer.from(body), "application/json")).toBe(true);
});

test.each([
  '{"file\\n_id":"a"}',
  '{"fil\\te_id":"a"}',
  '{"fil\\u200be_id":"a"}',
  '{"vector\\n_store_ids":["a"]}',
  '{"file\\tUri":"a"}',
  '{"vec\\\\tor_store_ids":["a"]}',
  '{"f\\"\\/\\\\ile_id":"a"}',
  '{"fil\\e_id":"a"}',
])("b419: a body that names something with an escape in the name is read for it: %s", (body) => {
  expect(mayMention(Buffer.from(body), "application/json")).toBe(true);
});

test("b419: whatever the careful reading finds, the quick one has not passed", () => {
  const members = {
    file_id: "file",
    fileUri: "file",
    cached_content: "cache",
    vector_store_ids: "store",
    fileSearchStoreNames: "search store",
    previous_message_id: "message",
  } as const;
  const names = constantFrom(...Object.keys(members));
  const noise = constantFrom(
    ...["\\n", "\\t", "\\r", "\\b", "\\f", "\\u200b", "\\u2028", "\\uD83D", "\\\\", '\\"', "\\/", "_", "-", ".", " "],
    ...["\u200b", "\u00e9", "\u{1f600}", "t", "r", "x", "\\u0069", "\\u017f", "\ufb01"],
  );
  let found = 0;
  assert(
    property(names, array(tuple(nat(16), noise), { maxLength: 6 }), (name, put) => {
      const letters = [...name];
      for (const [at, text] of put) letters.splice(at % letters.length, 0, text);
      const body = Buffer.from(`{"\\\\":"f","a":[{"${letters.join("")}":["x"]}]}`);
      const scan = new ReferenceScan(body, { mentioned: { members, but: {} } });
      while (!scan.run(10_000));
      if (scan.references.length === 0) return;
      found++;
      expect(mayMention(body, "application/json"), body.toString()).toBe(true);
    }),
    { numRuns: examples(2_000) },
  );
  expect(found).toBeGreaterThan(200);
});

test.each([
  "vec\\t",
  "f\\n",
  "file\\\\",
  "vectors\\ttore",
  "f___",
  "fi\\f\\f",
  "\\u200b",
  "\\u200f",
  "\\u200c",
  "\\uf",
  "\\c",
  "\\v",
  "\\",
])("b419: a small body is searched in a time that grows with its length alone: of %s", async (part) => {
  const bodies = [part.repeat(60_000 / part.length), part + part.slice(-2).repeat(30_000)].map((text) =>
    Buffer.from(text),
  );
  const took = await leastOfFive(50, () =>
    threadCpuTimeOf(() => {
      for (const body of bodies) mayMention(body, "application/json");
    }),
  );
  expect(took).toBeLessThan(50);
});

test.each([
  '{"prompt":"files"}',
  '{"prompt":"a cached page"}',
  '{"prompt":"The file that was cached."}',
  '{"prompt":"Cached: yes"}',
])("a body whose text speaks of files and caches names none: %s", (body) => {
  expect(mayMention(Buffer.from(body), "text/plain")).toBe(false);
});
