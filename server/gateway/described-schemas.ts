import type { Dialect } from "../../domain/access/key-record.ts";
import type { ProblemCode } from "../http/problems/catalogue.ts";
import type { JsonSchema } from "../openapi/format.ts";

const TEXT = { type: "string" } as const;

function closed(title: string, properties: Readonly<Record<string, object>>): JsonSchema {
  return { title, type: "object", required: Object.keys(properties), properties };
}

/** Schemas of each API's errors, as its SDK reads them. */
export const ERROR_SCHEMAS: Readonly<Record<Dialect, JsonSchema>> = {
  openai: closed("OpenAIError", {
    error: {
      type: "object",
      required: ["message", "type", "code", "param"],
      properties: {
        message: TEXT,
        type: TEXT,
        code: { type: ["string", "null"] },
        param: { type: ["string", "null"] },
      },
    },
  }),
  gemini: closed("GeminiError", {
    error: {
      type: "object",
      required: ["code", "message", "status"],
      properties: { code: { type: "integer" }, message: TEXT, status: TEXT },
    },
  }),
  anthropic: closed("AnthropicError", {
    type: { const: "error" },
    error: { type: "object", required: ["type", "message"], properties: { type: TEXT, message: TEXT } },
  }),
};

/**
 * Returns the schema of an error of our own in the form of an API: with our code in a field of its own, or before the
 * message.
 */
export function errorSchema(dialect: Dialect, status: number, codes: readonly ProblemCode[]): JsonSchema {
  const message = { pattern: `^(?:${codes.join("|")}): ` };
  const own: Readonly<Record<Dialect, object>> = {
    openai: { code: { enum: codes } },
    gemini: { code: { const: status }, message },
    anthropic: { message },
  };
  return { allOf: [ERROR_SCHEMAS[dialect]], properties: { error: { properties: own[dialect] } } };
}

/** Schemas of one logical route, in the form of each API. */
export const MODEL_SCHEMAS: Readonly<Record<Dialect, JsonSchema>> = {
  openai: closed("OpenAIModel", { id: TEXT, object: { const: "model" }, created: { type: "integer" }, owned_by: TEXT }),
  gemini: closed("GeminiModel", {
    ...{ name: TEXT, version: TEXT, displayName: TEXT },
    supportedGenerationMethods: { type: "array", items: TEXT },
  }),
  anthropic: closed("AnthropicModel", { type: { const: "model" }, id: TEXT, display_name: TEXT, created_at: TEXT }),
};

const TEXT_OR_NULL = { type: ["string", "null"] } as const;

/** Schemas of the list of logical routes, in the form of each API. */
export const MODEL_LIST_SCHEMAS: Readonly<Record<Dialect, JsonSchema>> = {
  openai: closed("OpenAIModelList", {
    object: { const: "list" },
    data: { type: "array", items: MODEL_SCHEMAS.openai },
  }),
  gemini: closed("GeminiModelList", { models: { type: "array", items: MODEL_SCHEMAS.gemini } }),
  anthropic: closed("AnthropicModelList", {
    data: { type: "array", items: MODEL_SCHEMAS.anthropic },
    ...{ has_more: { type: "boolean" }, first_id: TEXT_OR_NULL, last_id: TEXT_OR_NULL },
  }),
};
