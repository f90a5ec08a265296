/** Gemini's dialect: content generation, token counts, embeddings. The model stands in the path. */
import { type Body, countOf, type StubAnswer, tokensOf, vectorOf } from "./answer.ts";

const candidate = (text: string, finishReason?: string) => ({
  content: { role: "model", parts: [{ text }] },
  index: 0,
  ...(finishReason !== undefined && { finishReason }),
});

export function generateContent(body: Body, model: string): StubAnswer {
  const tokens = tokensOf(model);
  return { json: { candidates: [candidate(tokens.join(""), "STOP")], ...about(body, model, tokens.length) } };
}

/** Streams as the API does: events if the caller asks for `alt=sse`, else one array. */
export function streamGenerateContent(body: Body, model: string, query: URLSearchParams): StubAnswer {
  const tokens = tokensOf(model);
  const pieces = tokens.map((text, i) => {
    const isLast = i === tokens.length - 1;
    return { candidates: [candidate(text, isLast ? "STOP" : undefined)], ...about(body, model, i + 1) };
  });
  return query.get("alt") === "sse" ? { events: pieces.map((piece) => [null, piece]) } : { json: pieces };
}

export function countTokens(body: Body): StubAnswer {
  return { json: { totalTokens: countOf(body.contents ?? body.generateContentRequest) } };
}

export function embedContent(body: Body): StubAnswer {
  return { json: { embedding: { values: vectorOf(body.content, body.outputDimensionality) } } };
}

/** Refuses, as the API does, a batch in which a request does not repeat the model of the path. */
export function batchEmbedContents(body: Body, model: string): StubAnswer {
  const requests: unknown[] = Array.isArray(body.requests) ? body.requests : [];
  if (requests.some((request) => !isRecord(request) || request.model !== `models/${model}`)) {
    return geminiError(400, "INVALID_ARGUMENT", "Stub: each request must name the model of the path.");
  }
  const embeddings = requests
    .filter(isRecord)
    .map(({ content, outputDimensionality }) => ({ values: vectorOf(content, outputDimensionality) }));
  return { json: { embeddings } };
}

export function geminiError(code: number, status: string, message: string): StubAnswer {
  return { status: code, json: { error: { code, message, status } } };
}

function about(body: Body, model: string, tokens: number): object {
  const promptTokenCount = countOf(body.contents);
  const totalTokenCount = promptTokenCount + tokens;
  return {
    usageMetadata: { promptTokenCount, candidatesTokenCount: tokens, totalTokenCount },
    modelVersion: `${model} (stub)`,
    responseId: "stub",
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
