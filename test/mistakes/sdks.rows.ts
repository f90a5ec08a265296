/**
 * The commonest mistakes with SDKs, each with the whole message that the SDK's error shows, word for word. Where there is
 * a request's id in it, it reads `req_...`.
 */
export const SDK_MISTAKES = [
  {
    client: "openai",
    done: "The base URL ends in the public id, without /v1.",
    says: "404 There is nothing at this path. The nearest is POST /g/research-main/v1/chat/completions: OpenAI's SDKs take a base URL that ends in /v1. This gateway serves POST v1/chat/completions, v1/completions, v1/responses, v1/embeddings, v1/messages, v1/messages/count_tokens, v1/models/{model}:generateContent, :streamGenerateContent, :countTokens, :embedContent, :batchEmbedContents; GET v1/models, v1/models/{model}. Under v1beta it serves the paths of models too.",
  },
  {
    client: "openai",
    done: "The base URL ends in /v1 twice.",
    says: "404 There is nothing at this path. The nearest is POST /g/research-main/v1/chat/completions: OpenAI's SDKs take a base URL that ends in /v1. This gateway serves POST v1/chat/completions, v1/completions, v1/responses, v1/embeddings, v1/messages, v1/messages/count_tokens, v1/models/{model}:generateContent, :streamGenerateContent, :countTokens, :embedContent, :batchEmbedContents; GET v1/models, v1/models/{model}. Under v1beta it serves the paths of models too.",
  },
  {
    client: "openai",
    done: "The base URL is the URL of the endpoint, with /v1/chat/completions.",
    says: "404 There is nothing at this path. The nearest is POST /g/research-main/v1/chat/completions: OpenAI's SDKs take a base URL that ends in /v1. This gateway serves POST v1/chat/completions, v1/completions, v1/responses, v1/embeddings, v1/messages, v1/messages/count_tokens, v1/models/{model}:generateContent, :streamGenerateContent, :countTokens, :embedContent, :batchEmbedContents; GET v1/models, v1/models/{model}. Under v1beta it serves the paths of models too.",
  },
  {
    client: "openai",
    done: "The base URL is the server's, http://127.0.0.1:8080/v1, and names no gateway.",
    says: `404 {"type":"urn:keyplane:problem:not_found","title":"Not found","status":404,"code":"not_found","detail":"The model gateway is under /g/<public id>: OpenAI's SDKs take a base URL that ends in /g/<public id>/v1, Anthropic's and Google's one that ends in /g/<public id>. keyplane get gateways lists the public ids.","requestId":"req_..."}`,
  },
  {
    client: "openai",
    done: "The key is one for the memory.",
    says: "403 The key inf_00000000 lacks the scope gateway:generate. It has memory:read, memory:write. Use another key, or have the scope added to this one.",
  },
  {
    client: "openai",
    done: "The key is bound to another gateway.",
    says: "403 The key inf_00000000 is for one gateway alone, which is at /g/billing-main/: call it there, or use another key.",
  },
  {
    client: "openai",
    done: "The key may be used from another network alone.",
    says: "403 Calls from 127.0.0.1 are refused: allowedCIDRs of the PlatformKey does not have this address. Call from one that it has, or have this one added. Where it is a proxy's, the server is started with --trusted-proxies for that proxy.",
  },
  {
    client: "openai",
    done: "The key has been revoked.",
    says: "401 A valid API key is needed: send it as `Authorization: Bearer <key>`, or where the provider's SDK puts its own. This one is missing, malformed, unknown, revoked, expired or suspended, or it is not a key for this gateway. A PlatformKey has one issued, and so does the console at /dashboard.",
  },
  {
    client: "openai",
    done: "The key allows one model, and another is asked for.",
    says: "403 This key may not use this model. Its allowed models are: fast-chat.",
  },
  {
    client: "openai",
    done: "The model is none of the routes of a gateway that serves its routes alone.",
    says: "404 This gateway serves its logical routes alone, and the model is none of them. This key may name: fast-chat.",
  },
  {
    client: "openai",
    done: "The model is a route to an upstream of Anthropic.",
    says: "400 This logical route is served in the anthropic format, and this path is openai's: call it with a client of the anthropic format.",
  },
  {
    client: "openai",
    done: "The key's rate limit is used up.",
    says: "429 This key's rate limit is used up: try again in 60 s.",
  },
  {
    client: "openai",
    done: "The provider refuses the credential of the gateway.",
    says: "502 The upstream refuses the credential that this gateway has for it. Your key is not at fault: the owner of the gateway replaces the credential in the Secret that the ModelGateway names.",
  },
  {
    client: "@anthropic-ai/sdk",
    done: "The base URL ends in /v1, as with OpenAI's SDK.",
    says: `404 {"type":"error","error":{"type":"not_found_error","message":"not_found: There is nothing at this path. The nearest is POST /g/research-main/v1/messages: Anthropic's SDKs take a base URL that ends in the public id, and @ai-sdk/anthropic one that ends in /v1. This gateway serves POST v1/chat/completions, v1/completions, v1/responses, v1/embeddings, v1/messages, v1/messages/count_tokens, v1/models/{model}:generateContent, :streamGenerateContent, :countTokens, :embedContent, :batchEmbedContents; GET v1/models, v1/models/{model}. Under v1beta it serves the paths of models too."}}`,
  },
  {
    client: "@anthropic-ai/sdk",
    done: "The key is the provider's own.",
    says: `401 {"type":"error","error":{"type":"authentication_error","message":"unauthorized: A valid API key is needed: send it as \`Authorization: Bearer <key>\`, or where the provider's SDK puts its own. This one is missing, malformed, unknown, revoked, expired or suspended, or it is not a key for this gateway. A PlatformKey has one issued, and so does the console at /dashboard."}}`,
  },
  {
    client: "@anthropic-ai/sdk",
    done: "The gateway has upstreams of OpenAI alone.",
    says: '404 {"type":"error","error":{"type":"not_found_error","message":"not_found: This gateway has no upstream that speaks anthropic: use a client of a format that it speaks (openai), or have one added."}}',
  },
  {
    client: "@google/genai",
    done: "The base URL ends in a version, /v1beta.",
    says: `{"error":{"code":404,"message":"not_found: There is nothing at this path. The nearest is POST /g/research-main/v1/models/{model}:generateContent: Google's SDKs take a base URL that ends in the public id, and @ai-sdk/google one that ends in /v1beta. This gateway serves POST v1/chat/completions, v1/completions, v1/responses, v1/embeddings, v1/messages, v1/messages/count_tokens, v1/models/{model}:generateContent, :streamGenerateContent, :countTokens, :embedContent, :batchEmbedContents; GET v1/models, v1/models/{model}. Under v1beta it serves the paths of models too.","status":"NOT_FOUND"}}`,
  },
  {
    client: "@modelcontextprotocol/client",
    done: "The key is one for a gateway.",
    says: 'Error POSTing to endpoint: {"type":"urn:keyplane:problem:forbidden","title":"Forbidden","status":403,"code":"forbidden","detail":"The key inf_00000000 lacks a scope of these: memory:read, memory:write. It has gateway:generate, gateway:embed, gateway:routes. Use another key, or have the scope added to this one.","requestId":"req_..."}',
  },
  {
    client: "@modelcontextprotocol/client",
    done: "The URL is that of an earlier transport, /sse.",
    says: `Error POSTing to endpoint: {"type":"urn:keyplane:problem:not_found","title":"Not found","status":404,"code":"not_found","detail":"The memory's MCP endpoint is at /api/v1/memory/mcp.","requestId":"req_..."}`,
  },
  {
    client: "@modelcontextprotocol/client",
    done: "The URL is the server's, without a path.",
    says: 'Error POSTing to endpoint: {"type":"urn:keyplane:problem:not_found","title":"Not found","status":404,"code":"not_found","detail":"There is nothing at this path. The page at / has the addresses of all that is served.","requestId":"req_..."}',
  },
] as const satisfies readonly SdkMistake[];

export type SdkMistake = {
  /** The package, as it is installed. */
  readonly client: string;
  /** What was done, in one sentence. The server is at `http://127.0.0.1:8080`, the gateway `research-main` on it. */
  readonly done: string;
  readonly says: string;
};
