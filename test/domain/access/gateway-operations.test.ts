import { expect, test } from "vitest";
import { GATEWAY_OPERATIONS, isForwarded, SERVED_OPERATIONS } from "../../../domain/access/gateway-operations.ts";

const EMBED_OF_GEMINI = ["gateway:embed", "in the path", { bounds: {} }, "embeddings"];
const OF_GEMINI = {
  most: ["maxOutputTokens", "max_output_tokens"],
  answers: ["candidateCount", "candidate_count"],
  within: ["generationConfig", "generation_config"],
  references: ["cachedContent", "cached_content"],
};
const GENERATE_OF_GEMINI = ["gateway:generate", "in the path", { bounds: OF_GEMINI }, "generate_content"];

const GENERATE = ["gateway:generate", "in the body"];
const IMAGES = [...GENERATE, { bounds: { answers: ["n"], refused: ["svg"] }, usual: 6_240, unit: "images" }, undefined];
const HEARD = [...GENERATE, { bounds: {}, usual: 2_000, unit: "seconds" }, undefined];
const KEPT = ["gateway:generate", "unused", "unread", undefined];
const FILES = ["gateway:files", "unused", "unread", undefined];
const SPOKEN = { bounds: { spoken: ["input"] }, usual: 4_096, unit: "characters" };

/** What the spec and the providers' references say of each, written down again by hand. */
const SAID: Readonly<Record<string, readonly unknown[]>> = {
  "POST v1/chat/completions openai": [
    "gateway:generate",
    "in the body",
    { bounds: { most: ["max_tokens", "max_completion_tokens"], answers: ["n"], references: ["prompt_id"] } },
    "chat",
  ],
  "POST v1/completions openai": [
    "gateway:generate",
    "in the body",
    { bounds: { most: ["max_tokens"], answers: ["n", "best_of"], prompts: ["prompt"] } },
    "text_completion",
  ],
  "POST v1/responses openai": [
    "gateway:generate",
    "in the body",
    {
      bounds: {
        most: ["max_output_tokens"],
        references: ["previous_response_id", "conversation", "prompt"],
        items: ["input"],
        background: ["background"],
      },
    },
    "chat",
  ],
  "POST v1/messages anthropic": ["gateway:generate", "in the body", { bounds: { most: ["max_tokens"] } }, "chat"],
  "POST v1/messages/batches anthropic": ["gateway:generate", "in the requests", "unread", undefined],
  "GET v1/messages/batches anthropic": KEPT,
  "GET v1/messages/batches/{id} anthropic": KEPT,
  "DELETE v1/messages/batches/{id} anthropic": KEPT,
  "POST v1/messages/batches/{id}/cancel anthropic": KEPT,
  "GET v1/messages/batches/{id}/results anthropic": KEPT,
  "POST v1/batches openai": ["gateway:generate", "in the file", "unread", undefined],
  "GET v1/batches openai": KEPT,
  "GET v1/batches/{id} openai": KEPT,
  "POST v1/batches/{id}/cancel openai": KEPT,
  "POST v1beta/models/{model}:batchGenerateContent gemini": ["gateway:generate", "in the path", "unread", undefined],
  "POST v1beta/models/{model}:asyncBatchEmbedContent gemini": ["gateway:generate", "in the path", "unread", undefined],
  "GET v1beta/batches gemini": KEPT,
  "GET v1beta/batches/{id} gemini": KEPT,
  "DELETE v1beta/batches/{id} gemini": KEPT,
  "POST v1beta/batches/{id}:cancel gemini": KEPT,
  "POST v1/messages/count_tokens anthropic": ["gateway:generate", "in the body", "unread", undefined],
  "POST v1/models/{model}:generateContent gemini": GENERATE_OF_GEMINI,
  "POST v1beta/models/{model}:generateContent gemini": GENERATE_OF_GEMINI,
  "POST v1/models/{model}:streamGenerateContent gemini": GENERATE_OF_GEMINI,
  "POST v1beta/models/{model}:streamGenerateContent gemini": GENERATE_OF_GEMINI,
  "POST v1/models/{model}:countTokens gemini": ["gateway:generate", "in the path", "unread", undefined],
  "POST v1beta/models/{model}:countTokens gemini": ["gateway:generate", "in the path", "unread", undefined],
  "POST v1/embeddings openai": ["gateway:embed", "in the body", {}, "embeddings"],
  "POST v1/models/{model}:embedContent gemini": EMBED_OF_GEMINI,
  "POST v1beta/models/{model}:embedContent gemini": EMBED_OF_GEMINI,
  "POST v1/models/{model}:batchEmbedContents gemini": EMBED_OF_GEMINI,
  "POST v1beta/models/{model}:batchEmbedContents gemini": EMBED_OF_GEMINI,
  "POST v1/images/generations openai": IMAGES,
  "POST v1/images/edits openai": IMAGES,
  "POST v1/images/variations openai": IMAGES,
  "POST v1/audio/speech openai": [...GENERATE, SPOKEN, undefined],
  "POST v1/audio/transcriptions openai": HEARD,
  "POST v1/audio/translations openai": HEARD,
  "POST v1/moderations openai": [...GENERATE, "unread", undefined],
  "GET v1/responses/{id} openai": KEPT,
  "DELETE v1/responses/{id} openai": KEPT,
  "POST v1/responses/{id}/cancel openai": KEPT,
  "GET v1/responses/{id}/input_items openai": KEPT,
  "POST v1/conversations openai": KEPT,
  "GET v1/conversations/{id} openai": KEPT,
  "POST v1/conversations/{id} openai": KEPT,
  "DELETE v1/conversations/{id} openai": KEPT,
  "POST v1/conversations/{id}/items openai": KEPT,
  "GET v1/conversations/{id}/items openai": KEPT,
  "GET v1/conversations/{id}/items/{item} openai": KEPT,
  "DELETE v1/conversations/{id}/items/{item} openai": KEPT,
  "POST v1/files any": FILES,
  "GET v1/files any": FILES,
  "GET v1/files/{id} any": FILES,
  "DELETE v1/files/{id} any": FILES,
  "GET v1/files/{id}/content any": FILES,
  "POST upload/v1beta/files gemini": FILES,
  "GET v1beta/files gemini": FILES,
  "GET v1beta/files/{id} gemini": FILES,
  "DELETE v1beta/files/{id} gemini": FILES,
  "GET v1beta/files/{id}:download gemini": FILES,
  "GET download/v1beta/files/{id}:download gemini": FILES,
  "POST v1beta/cachedContents gemini": ["gateway:files", "in the body", { bounds: {}, asked: true }, undefined],
  "GET v1beta/cachedContents gemini": FILES,
  "GET v1beta/cachedContents/{id} gemini": FILES,
  "PATCH v1beta/cachedContents/{id} gemini": FILES,
  "DELETE v1beta/cachedContents/{id} gemini": FILES,
  "POST v1/uploads openai": FILES,
  "POST v1/uploads/{id}/parts openai": FILES,
  "POST v1/uploads/{id}/complete openai": FILES,
  "POST v1/uploads/{id}/cancel openai": FILES,
  "POST v1/vector_stores openai": FILES,
  "GET v1/vector_stores openai": FILES,
  "GET v1/vector_stores/{id} openai": FILES,
  "POST v1/vector_stores/{id} openai": FILES,
  "DELETE v1/vector_stores/{id} openai": FILES,
  "POST v1/vector_stores/{id}/search openai": FILES,
  "POST v1/vector_stores/{id}/files openai": FILES,
  "GET v1/vector_stores/{id}/files openai": FILES,
  "GET v1/vector_stores/{id}/files/{file} openai": FILES,
  "POST v1/vector_stores/{id}/files/{file} openai": FILES,
  "DELETE v1/vector_stores/{id}/files/{file} openai": FILES,
  "GET v1/vector_stores/{id}/files/{file}/content openai": FILES,
  "POST v1/vector_stores/{id}/file_batches openai": FILES,
  "GET v1/vector_stores/{id}/file_batches/{batch} openai": FILES,
  "POST v1/vector_stores/{id}/file_batches/{batch}/cancel openai": FILES,
  "GET v1/vector_stores/{id}/file_batches/{batch}/files openai": FILES,
  "GET v1/models any": ["gateway:routes", "none", "unread", undefined],
  "GET v1beta/models gemini": ["gateway:routes", "none", "unread", undefined],
  "GET v1/models/{model} any": ["gateway:routes", "none", "unread", undefined],
  "GET v1beta/models/{model} gemini": ["gateway:routes", "none", "unread", undefined],
};

test("each path of the gateway has its scope, its model's place, what is counted of it, and its name in a trace", () => {
  const rows = SERVED_OPERATIONS.flatMap((operation) => {
    const { served, scope, models, usage, span } = GATEWAY_OPERATIONS[operation];
    return served.map(({ method, path, dialect = "any" }) => {
      return [`${method} ${path} ${dialect}`, [scope, models, usage, span]] as const;
    });
  });
  expect(Object.fromEntries(rows)).toEqual(SAID);
  expect(rows).toHaveLength(Object.keys(SAID).length);
});

test("the path of a forwarded call names a model where its row says so, and nowhere else", () => {
  for (const operation of SERVED_OPERATIONS) {
    const row = GATEWAY_OPERATIONS[operation];
    if (!isForwarded(row)) continue;
    for (const { path } of row.served) {
      expect(path.includes("{model}"), `${operation}: ${path}`).toBe(row.models === "in the path");
    }
  }
});

test("the gateway answers what is asked of its models, and an upstream all else, in the format of its path", () => {
  const rows = SERVED_OPERATIONS.map((operation) => ({ operation, ...GATEWAY_OPERATIONS[operation] }));
  const here = rows.filter((row) => !isForwarded(row));
  expect(here.map(({ operation, answer }) => `${operation}: ${answer}`)).toEqual([
    "gateway.list_models: route list",
    "gateway.get_model: route",
  ]);
  for (const row of rows.filter(isForwarded)) {
    const shares = row.served.some(({ path }) => path.startsWith("v1/files"));
    for (const { dialect } of row.served)
      expect([row.operation, dialect !== undefined]).toEqual([row.operation, !shares]);
    expect([row.operation, row.example === undefined]).toEqual([row.operation, row.body === "none"]);
  }
});
