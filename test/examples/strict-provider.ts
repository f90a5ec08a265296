/**
 * Stand-ins of OpenAI, Anthropic and Gemini that know a few models, the paths of these and one credential, and answer
 * anything else as the published API does. What they answer to the rest is the model stub's.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { type Body, type StubAnswer, send } from "../../examples/model-stub/answer.ts";
import { anthropicError, messages } from "../../examples/model-stub/anthropic.ts";
import { batchEmbedContents, geminiError, generateContent } from "../../examples/model-stub/gemini.ts";
import { chatCompletions, embeddings } from "../../examples/model-stub/openai.ts";

export type ProviderAccess = { readonly credential: string; readonly chat: string; readonly embedding?: string };

type ProviderRequest = { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: Body };
type ProviderHandler = (asked: ProviderRequest, known: ProviderAccess) => StubAnswer;

export const STRICT = { openai, anthropic, gemini } satisfies Record<string, ProviderHandler>;

function openai({ path, headers, body }: ProviderRequest, { credential, chat, embedding }: ProviderAccess): StubAnswer {
  const error = (status: number, message: string, code: string | null): StubAnswer => ({
    status,
    json: { error: { message, type: "invalid_request_error", param: null, code } },
  });
  if (headers.authorization !== `Bearer ${credential}`) {
    return error(401, "Incorrect API key provided.", "invalid_api_key");
  }
  const served = {
    "/v1/chat/completions": { model: chat, answer: chatCompletions },
    "/v1/embeddings": { model: embedding, answer: embeddings },
  };
  if (!(path in served)) return error(404, `Invalid URL (POST ${path})`, null);
  const { model, answer } = served[path as keyof typeof served];
  if (body.model === model) return answer(body);
  return error(404, `The model \`${body.model}\` does not exist or you do not have access to it.`, "model_not_found");
}

function anthropic({ path, headers, body }: ProviderRequest, { credential, chat }: ProviderAccess): StubAnswer {
  if (headers["x-api-key"] !== credential) return anthropicError(401, "authentication_error", "invalid x-api-key");
  if (path !== "/v1/messages") return anthropicError(404, "not_found_error", "Not Found");
  if (!/^20\d\d-\d\d-\d\d$/.test(String(headers["anthropic-version"]))) {
    return anthropicError(400, "invalid_request_error", "anthropic-version: header is required");
  }
  if (!Number.isInteger(body.max_tokens)) {
    return anthropicError(400, "invalid_request_error", "max_tokens: Field required");
  }
  if (body.model !== chat) return anthropicError(404, "not_found_error", `model: ${body.model}`);
  return messages(body);
}

function gemini({ path, headers, body }: ProviderRequest, { credential, chat, embedding }: ProviderAccess): StubAnswer {
  const [, model = "", action = ""] = /^\/v1(?:beta)?\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
  if (action === "") return geminiError(404, "NOT_FOUND", "Requested entity was not found.");
  if (headers["x-goog-api-key"] !== credential) {
    const reason = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" };
    const message = "API key not valid. Please pass a valid API key.";
    return { status: 400, json: { error: { code: 400, message, status: "INVALID_ARGUMENT", details: [reason] } } };
  }
  if (model === chat && action === "generateContent") return generateContent(body, model);
  if (model === embedding && action === "batchEmbedContents") return batchEmbedContents(body, model);
  const missing = `models/${model} is not found for API version v1beta, or is not supported for ${action}.`;
  return geminiError(404, "NOT_FOUND", missing);
}

/** Starts one of them on loopback, until `close()`. What it knows may change while it runs. */
export async function startStrict(answer: ProviderHandler, known: ProviderAccess) {
  const served = { known };
  const server = createServer(async (request, response) => {
    const body = Object(await json(request).catch(() => ({})));
    await send(response, answer({ path: request.url ?? "", headers: request.headers, body }, served.known));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    know(known: ProviderAccess) {
      served.known = known;
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
