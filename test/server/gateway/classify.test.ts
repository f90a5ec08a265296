import { assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { classify, SERVED_PATHS } from "../../../server/gateway/classify.ts";
import { forwardedQuery } from "../../../server/gateway/query.ts";
import { pathPrefixes, splitTarget, upstreamTarget } from "../../../server/gateway/request-target.ts";

test.each([
  ["POST", "v1/chat/completions", "gateway.chat_completions", "openai"],
  ["POST", "v1/completions", "gateway.completions", "openai"],
  ["POST", "v1/responses", "gateway.responses", "openai"],
  ["POST", "v1/embeddings", "gateway.embeddings", "openai"],
  ["POST", "v1/messages", "gateway.messages", "anthropic"],
  ["POST", "v1/messages/count_tokens", "gateway.count_message_tokens", "anthropic"],
  ["POST", "v1beta/models/m:generateContent", "gateway.generate_content", "gemini"],
  ["POST", "v1/models/m:generateContent", "gateway.generate_content", "gemini"],
  ["POST", "v1beta/models/m:streamGenerateContent", "gateway.stream_generate_content", "gemini"],
  ["POST", "v1/models/m:countTokens", "gateway.count_tokens", "gemini"],
  ["POST", "v1beta/models/m:embedContent", "gateway.embed_content", "gemini"],
  ["POST", "v1beta/models/m:batchEmbedContents", "gateway.batch_embed_contents", "gemini"],
  ["GET", "v1/models", "gateway.list_models", undefined],
  ["GET", "v1/models/m", "gateway.get_model", undefined],
  ["GET", "v1beta/models", "gateway.list_models", "gemini"],
  ["GET", "v1beta/models/m", "gateway.get_model", "gemini"],
])("%s %s is %s in the format %s", (method, path, operation, dialect) => {
  expect(classify(method, path)).toMatchObject({ operation, dialect });
});

test("each path of the table leads to its own row, past the others, with one name at most", () => {
  for (const { method, path, operation } of SERVED_PATHS) {
    const asked = path.replaceAll(/\{\w+\}/g, "x");
    expect(classify(method, asked), `${method} ${asked}`).toMatchObject({ operation, servedPath: path });
  }
});

test.each([
  ["GET", "v1/chat/completions"],
  ["HEAD", "v1/models"],
  ["OPTIONS", "v1/models"],
  ["DELETE", "v1/models/m"],
  ["POST", "v1/models"],
  ["POST", "v1/models/m"],
  ["POST", "v1/models/m:predict"],
  ["POST", "v1/models/m:constructor"],
  ["POST", "v1/models/:generateContent"],
  ["DELETE", "v1/batches/x"],
  ["POST", "v1/models/m:batchGenerateContent"],
  ["POST", "v1beta/batches/x"],
  ["PATCH", "v1beta/batches/x"],
  ["POST", "v1beta/batches/x:updateGenerateContentBatch"],
  ["POST", "download/v1beta/files"],
  ["POST", "v2/chat/completions"],
  ["POST", "V1/chat/completions"],
  ["POST", "v1/chat/completions/"],
  ["POST", ""],
  ["POST", "constructor"],
])("%s %s is no operation", (method, path) => {
  expect(classify(method, path)).toBeUndefined();
});

test.each([
  "v1/../v1/embeddings",
  "v1/./embeddings",
  "v1/%2e%2e/embeddings",
  "v1//embeddings",
  "v1%2fembeddings",
  "v1/embeddings;x=y",
  "v1/embeddings%00",
  "v1/%65mbeddings",
  "v1beta/models/..:generateContent",
  "v1beta/models/%2e%2e:generateContent",
  "v1beta/models/a%2fb:generateContent",
  "v1beta/models/a%2Fb:generateContent",
  "v1beta/models/a%5cb:generateContent",
  "v1beta/models/a\\b:generateContent",
  "v1beta/models/a%252fb:generateContent",
  "v1beta/models/a%3bx:generateContent",
  "v1beta/models/a%00:generateContent",
  "v1beta/models/a%0d%0aX:generateContent",
  "v1beta/models/a%3fkey=x:generateContent",
  "v1beta/models/a%ff:generateContent",
  "v1beta/models/a%3AgenerateContent",
])("b33: %s is no operation", (path) => {
  expect(classify("POST", path)).toBeUndefined();
});

test("b33: whatever the path, an upstream is asked for a path of a known operation and nothing above it", () => {
  const base = new URL("http://up.test/base");
  assert(
    property(string({ unit: "binary-ascii", maxLength: 40 }), (text) => {
      for (const path of [text, `v1beta/models/${text}:generateContent`, `v1/models/${text}`]) {
        const call = classify("POST", path);
        if (call === undefined) continue;
        const target = upstreamTarget(pathPrefixes(base, "gemini"), call.path, call.model, "");
        expect(new URL(target, base).pathname).toBe(target);
        expect(target).toMatch(/^\/base\/v1(beta)?\/[^?#;\\]+$/);
        expect(target.split("/")).toHaveLength(5);
      }
    }),
  );
});

test("a model's name is decoded once and encoded again", () => {
  const call = classify("POST", "v1beta/models/my%20model%C3%A9:generateContent");
  expect(call?.model).toBe("my modelé");
  if (call === undefined) throw new Error("not classified");
  const target = upstreamTarget(pathPrefixes(new URL("http://up.test"), "gemini"), call.path, call.model, "alt=sse");
  expect(target).toBe("/v1beta/models/my%20model%C3%A9:generateContent?alt=sse");
});

/** What stands before `/embeddings` and the like. */
function prefixOf(path: string, dialect: Dialect): string {
  return pathPrefixes(new URL(`http://up.test${path}`), dialect).v1;
}

test.each([
  ["", "/v1"],
  ["/", "/v1"],
  ["/llm/", "/llm/v1"],
  ["/openai/deployments/chat", "/openai/deployments/chat/v1"],
  ["/v8-engine", "/v8-engine/v1"],
  ["/v1", "/v1"],
  ["/openai/v1//", "/openai/v1"],
  ["/v2", "/v2"],
  ["/api/v3/", "/api/v3"],
  ["/api/paas/v4", "/api/paas/v4"],
  ["/compatible-mode/v1", "/compatible-mode/v1"],
  ["/v1beta/openai/", "/v1beta/openai"],
  ["/v1/openai", "/v1/openai"],
  ["/v1beta1/projects/p/locations/l/endpoints/openapi", "/v1beta1/projects/p/locations/l/endpoints/openapi"],
  ["/client/v4/accounts/a/ai/v1", "/client/v4/accounts/a/ai/v1"],
])("a base URL of an OpenAI upstream with the path %s is asked for %s/chat/completions", (path, prefix) => {
  expect(prefixOf(path, "openai")).toBe(prefix);
});

test("a base URL of the other formats gets the version, unless it ends in it", () => {
  const paths = ["", "/api/anthropic/", "/v1", "/api/paas/v4", "/v1/claude"];
  expect(paths.map((path) => prefixOf(path, "anthropic"))).toEqual([
    "/v1",
    "/api/anthropic/v1",
    "/v1",
    "/api/paas/v4/v1",
    "/v1/claude/v1",
  ]);
  const gemini = ["", "/v1beta/", "/v1alpha", "/v1/accounts/a/google"].map((path) =>
    Object.values(pathPrefixes(new URL(`http://up.test${path}`), "gemini")),
  );
  expect(gemini).toEqual([
    ["/v1", "/v1beta", "/upload/v1beta", "/download/v1beta"],
    ["/v1beta", "/v1beta", "/upload/v1beta", "/download/v1beta"],
    ["/v1alpha", "/v1alpha", "/upload/v1beta", "/download/v1beta"],
    ["/v1", "/v1beta", "/upload/v1beta", "/download/v1beta"].map((version) => `/v1/accounts/a/google${version}`),
  ]);
});

test.each([
  ["/g/a/v1/models?x=1", "v1/models", "x=1"],
  ["/g/a/", "", ""],
  ["/g/a", undefined, ""],
  ["/%67/a/v1/models", undefined, ""],
  ["/g/%61/v1/models", undefined, ""],
  ["/g/b/v1/models", undefined, ""],
  ["http://evil/g/a/v1/models?/g/b", "v1/models", "/g/b"],
])("b34: the target %s is split by the router's public id", (url, rawPath, query) => {
  expect(splitTarget(url, "a")).toEqual({ rawPath, query });
});

test.each([
  ["key=inf_x", ""],
  ["alt=sse&key=inf_x&b=%20c+d", "alt=sse&b=%20c+d"],
  ["k%65y=inf_x&%6b%65%79=y&a", "a"],
  ["KEY=a&keys=b&api_key=c", "KEY=a&keys=b&api_key=c"],
  ["api_key=inf_x&other=i%6Ef_x&bad=%zz&k%65y=1", "bad=%zz"],
  ["&&a=1&", "&&a=1&"],
  ["a=1;b=2&c=%3Bkey=3", "a=1;b=2&c=%3Bkey=3"],
  ["a=1;key=x&b=2", "b=2"],
  ["a=1;k%2565y=x&b=2", "b=2"],
  ["b=2&;$httpMethod=DELETE", "b=2"],
])("b40: what goes upstream of the query %s is: %s", (query, forwarded) => {
  expect(forwardedQuery(query)).toBe(forwarded);
});

test.each([
  ["alt=sse&b=2", "alt=sse&b=2"],
  ["%24alt=json;enum-encoding=int&prettyPrint=false", "%24alt=json;enum-encoding=int&prettyPrint=false"],
  ["alt=proto&b=2", "b=2"],
  ["$ALT=media&alt=ndjson&b=2", "b=2"],
  ["fields=candidates&b=2", "b=2"],
  ["%24fie%256cds=candidates(content)&b=2", "b=2"],
  ["callback=f&b=2", "b=2"],
  ["$callback=f&%24Callback=f&c%2561llback&b=2", "b=2"],
  [
    "$.xgafv=2&%24prettyPrint=true&uploadType=media&quotaUser=u",
    "$.xgafv=2&%24prettyPrint=true&uploadType=media&quotaUser=u",
  ],
])(
  "b231: what goes upstream of the query %s is %s: no answer comes without its usage, or in a form that is not read",
  (query, forwarded) => {
    expect(forwardedQuery(query)).toBe(forwarded);
  },
);
