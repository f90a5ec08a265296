import { memberOf } from "../member-of.ts";
import type { CallFormat, CallFormats } from "./call-format.ts";

type GenerationRequest = { readonly instructions: string; readonly material: string; readonly maxTokens: number };

/** Form in which a dialect is asked for a text, and in which it answers. Pure. */
type GenerationFormat = CallFormat & {
  body(model: string, asked: GenerationRequest): object;
  /** Returns the text of an answer; undefined if it has none. */
  textOf(answer: unknown): string | undefined;
};

/** Formats of the dialects that generate text. */
export const GENERATION_FORMATS: CallFormats<GenerationFormat> = {
  openai: {
    operation: "gateway.chat_completions",
    path: { version: "v1", before: "/chat/completions", after: "" },
    namesModel: false,
    body: (model, { instructions, material, maxTokens }) => ({
      model,
      messages: [
        { role: "system", content: instructions },
        { role: "user", content: material },
      ],
      max_completion_tokens: maxTokens,
    }),
    textOf: (answer) => textOf(memberOf(memberOf(firstOf(memberOf(answer, "choices")), "message"), "content")),
  },
  anthropic: {
    operation: "gateway.messages",
    path: { version: "v1", before: "/messages", after: "" },
    namesModel: false,
    headers: { "anthropic-version": "2023-06-01" },
    body: (model, { instructions, material, maxTokens }) => ({
      model,
      system: instructions,
      messages: [{ role: "user", content: material }],
      max_tokens: maxTokens,
    }),
    textOf: (answer) => textsOf(memberOf(answer, "content")),
  },
  gemini: {
    operation: "gateway.generate_content",
    path: { version: "v1beta", before: "/models/", after: ":generateContent" },
    namesModel: true,
    body: (_model, { instructions, material, maxTokens }) => ({
      systemInstruction: { parts: [{ text: instructions }] },
      contents: [{ role: "user", parts: [{ text: material }] }],
      generationConfig: { maxOutputTokens: maxTokens },
    }),
    textOf: (answer) => textsOf(memberOf(memberOf(firstOf(memberOf(answer, "candidates")), "content"), "parts")),
  },
};

/** Joins the texts of an answer's parts; other parts are skipped. */
function textsOf(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  return textOf(parts.map((part) => textOf(memberOf(part, "text")) ?? "").join(""));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}
