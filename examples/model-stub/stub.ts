/**
 * A model server with no model: it speaks the three dialects well enough for their official SDKs, streams token by
 * token, and says in every answer what it is. For examples and tests; it depends on nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Body, type StubAnswer, send } from "./answer.ts";
import { anthropicError, countMessageTokens, messages } from "./anthropic.ts";
import {
  batchEmbedContents,
  countTokens,
  embedContent,
  geminiError,
  generateContent,
  streamGenerateContent,
} from "./gemini.ts";
import { chatCompletions, completions, embeddings, openaiError, responses } from "./openai.ts";

/** A stub that is running. */
export type ModelStub = { readonly url: string; readonly port: number; close(): Promise<void> };

type Dialect = "openai" | "gemini" | "anthropic";

const PATHS: Readonly<Record<string, readonly [Dialect, (body: Body) => StubAnswer]>> = {
  "/v1/chat/completions": ["openai", chatCompletions],
  "/v1/completions": ["openai", completions],
  "/v1/responses": ["openai", responses],
  "/v1/embeddings": ["openai", embeddings],
  "/v1/messages": ["anthropic", messages],
  "/v1/messages/count_tokens": ["anthropic", countMessageTokens],
};
const GEMINI_PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(\w+)$/;
const GEMINI: Readonly<Record<string, (body: Body, model: string, query: URLSearchParams) => StubAnswer>> = {
  generateContent,
  streamGenerateContent,
  countTokens,
  embedContent,
  batchEmbedContents,
};

/** Checks for each dialect's credential, where its provider looks for it. Any value will do, but there must be one. */
const CREDENTIALS: Readonly<Record<Dialect, (request: IncomingMessage, query: URLSearchParams) => boolean>> = {
  openai: ({ headers }) => /^Bearer ./.test(headers.authorization ?? ""),
  gemini: ({ headers }, query) => Boolean(headers["x-goog-api-key"] ?? query.get("key")),
  anthropic: ({ headers }) => Boolean(headers["x-api-key"]),
};
const REFUSALS: Readonly<Record<Dialect, StubAnswer>> = {
  openai: openaiError(401, "Stub: no credential in the Authorization header."),
  gemini: geminiError(401, "UNAUTHENTICATED", "Stub: no credential in x-goog-api-key."),
  anthropic: anthropicError(401, "authentication_error", "Stub: no credential in x-api-key."),
};

/**
 * Starts the stub on loopback.
 *
 * @param port 0 for any free port
 */
export async function startModelStub(port = 0): Promise<ModelStub> {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://stub");
  const route = routeOf(url);
  if (request.method !== "POST" || route === undefined) {
    return send(response, openaiError(404, "Stub: nothing is served here."));
  }
  const body = await readJson(request);
  if (!CREDENTIALS[route.dialect](request, url.searchParams)) return send(response, REFUSALS[route.dialect]);
  return send(
    response,
    body === undefined ? openaiError(400, "Stub: the body is not a JSON object.") : route.answer(body),
  );
}

function routeOf(url: URL): { dialect: Dialect; answer: (body: Body) => StubAnswer } | undefined {
  const fixed = PATHS[url.pathname];
  if (fixed !== undefined) return { dialect: fixed[0], answer: fixed[1] };
  const [, model, action] = GEMINI_PATH.exec(url.pathname) ?? [];
  const answer = action === undefined ? undefined : GEMINI[action];
  if (model === undefined || answer === undefined) return undefined;
  return { dialect: "gemini", answer: (body) => answer(body, decodeURIComponent(model), url.searchParams) };
}

async function readJson(request: IncomingMessage): Promise<Body | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof body === "object" && body !== null ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}
