import { expect, test } from "vitest";
import { mayMention } from "../../../../server/gateway/kept/mentions.ts";

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

test.each(['{"prompt":"a cached page"}', '{"prompt":"The file that was cached."}', '{"prompt":"Cached: yes"}'])(
  "a body whose text speaks of files and caches names none: %s",
  (body) => {
    expect(mayMention(Buffer.from(body), "text/plain")).toBe(false);
  },
);
