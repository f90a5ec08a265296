import type { Dialect } from "../../domain/access/key-record.ts";
import type { GatewayOperation } from "../../domain/access/operations.ts";

/** What a request under `/g/<public id>/` asks for. */
export type GatewayCall = {
  readonly operation: GatewayOperation;
  /** The wire format of its path; undefined where three formats share a path, and the caller's headers say which. */
  readonly dialect: Dialect | undefined;
  /** The path to ask of an upstream, with the model, decoded, left out. */
  readonly path: UpstreamPath;
  /** The model that the path names, decoded once; undefined where the body names it. */
  readonly model: string | undefined;
};

/** A path as an upstream is asked for it: built from the operation, never from what the client sent. */
export type UpstreamPath = { readonly version: "v1" | "v1beta"; readonly before: string; readonly after: string };

type Entry = { readonly operation: GatewayOperation; readonly dialect: Dialect | undefined };

/** The paths that are one operation as they stand, by method and path. */
const FIXED_OPERATIONS: Readonly<Record<string, Entry>> = {
  "POST v1/chat/completions": { operation: "gateway.chat_completions", dialect: "openai" },
  "POST v1/completions": { operation: "gateway.completions", dialect: "openai" },
  "POST v1/responses": { operation: "gateway.responses", dialect: "openai" },
  "POST v1/embeddings": { operation: "gateway.embeddings", dialect: "openai" },
  "POST v1/messages": { operation: "gateway.messages", dialect: "anthropic" },
  "POST v1/messages/count_tokens": { operation: "gateway.count_message_tokens", dialect: "anthropic" },
  "GET v1/models": { operation: "gateway.list_models", dialect: undefined },
  "GET v1beta/models": { operation: "gateway.list_models", dialect: "gemini" },
};

/**
 * The same, with a call of each, made once. A list: to compare a few texts costs less than to hash the path for a map.
 */
const FIXED = Object.entries(FIXED_OPERATIONS).map(([line, entry]) => {
  const [method = "", rawPath = ""] = line.split(" ");
  const version = rawPath.startsWith("v1beta/") ? "v1beta" : "v1";
  const path: UpstreamPath = { version, before: rawPath.slice(rawPath.indexOf("/")), after: "" };
  const call: GatewayCall = { ...entry, path, model: undefined };
  return { method, rawPath, call };
});

/** What may stand behind the colon of a Gemini model's path. */
const GEMINI_ACTIONS: Readonly<Record<string, GatewayOperation>> = {
  generateContent: "gateway.generate_content",
  streamGenerateContent: "gateway.stream_generate_content",
  countTokens: "gateway.count_tokens",
  embedContent: "gateway.embed_content",
  batchEmbedContents: "gateway.batch_embed_contents",
};

/** A path that is served behind `/g/<public id>/`, with `{model}` where a model's name stands. */
export type ServedPath = {
  readonly method: string;
  readonly path: string;
  readonly operation: GatewayOperation;
  readonly dialect: Dialect | undefined;
};

/** Every path that {@link classify} takes for an operation. */
export const SERVED_PATHS: readonly ServedPath[] = [
  ...FIXED.map(({ method, rawPath: path, call: { operation, dialect } }) => ({ method, path, operation, dialect })),
  ...(["v1", "v1beta"] as const).flatMap((version) => modelPaths(version)),
];

function modelPaths(version: "v1" | "v1beta"): ServedPath[] {
  const path = `${version}/models/{model}`;
  const dialect = version === "v1beta" ? "gemini" : undefined;
  const actions = Object.entries(GEMINI_ACTIONS);
  return [
    { method: "GET", path, operation: "gateway.get_model", dialect },
    ...actions.map(
      ([action, operation]): ServedPath => ({
        method: "POST",
        path: `${path}:${action}`,
        operation,
        dialect: "gemini",
      }),
    ),
  ];
}

const MODELS = "/models/";
const MODEL_PATH = /^(v1|v1beta)\/models\/([^/]+)$/;
/** A model's id that is read may hold anything, slashes too: the gateway answers, and no upstream is asked. */
const READ_MODEL = /^(v1|v1beta)\/models\/(.+)$/;
const ACTION = /^(.+):([A-Za-z]+)$/;
/** What a path may hold as it comes off the wire: no semicolon, no second slash, nothing outside of RFC 3986. */
const RAW_PATH = /^(?:[A-Za-z0-9\-._~!$&'()*+,=:@]|%[0-9A-Fa-f]{2}|\/(?!\/))+$/;
/**
 * What a model's name may be once decoded: neither a path, nor anything that is decoded a second time, nor a key of
 * ours that a client has put in the wrong place, which must not go upstream.
 */
const MODEL_NAME = /^(?!\.{1,2}$)(?!.*inf_[0-9A-Za-z]{8})[^\p{Cc}/\\%;?#]+$/u;
const MAX_MODEL_LENGTH = 256;

/**
 * Says which operation a request is (spec §4), by method and the undecoded path. Pure.
 *
 * @param rawPath what stands between `/g/<public id>/` and the query, as it came off the wire
 * @returns undefined for anything that is no operation: it is answered 404 and never forwarded
 */
export function classify(method: string, rawPath: string): GatewayCall | undefined {
  for (const fixed of FIXED) if (fixed.rawPath === rawPath && fixed.method === method) return fixed.call;
  if (method === "GET") return readModelCall(rawPath);
  if (method !== "POST" || !RAW_PATH.test(rawPath)) return undefined;
  const [, version, segment = ""] = MODEL_PATH.exec(rawPath) ?? [];
  if (version !== "v1" && version !== "v1beta") return undefined;
  const [, model, action] = ACTION.exec(segment) ?? [];
  if (model === undefined || action === undefined || !Object.hasOwn(GEMINI_ACTIONS, action)) return undefined;
  const operation = GEMINI_ACTIONS[action];
  const named = decodeModel(model);
  if (operation === undefined || named === undefined) return undefined;
  return { operation, dialect: "gemini", path: { version, before: MODELS, after: `:${action}` }, model: named };
}

function readModelCall(rawPath: string): GatewayCall | undefined {
  const [, version, id = ""] = READ_MODEL.exec(rawPath) ?? [];
  const model = decoded(id);
  if (model === undefined || (version !== "v1" && version !== "v1beta")) return undefined;
  const dialect = version === "v1beta" ? "gemini" : undefined;
  return { operation: "gateway.get_model", dialect, path: { version, before: MODELS, after: "" }, model };
}

function decodeModel(encoded: string): string | undefined {
  const model = decoded(encoded);
  return model !== undefined && model.length <= MAX_MODEL_LENGTH && MODEL_NAME.test(model) ? model : undefined;
}

function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
