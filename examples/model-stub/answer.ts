/** Parts that the three dialects of the stub have in common: the text of its answers, and how they are sent. */
import type { ServerResponse } from "node:http";

/** A parsed JSON body, as far as the stub looks into it. */
export type Body = Readonly<Record<string, unknown>>;

/** Answer in one piece, or as events, each `[name, data]`; for a name of null none is written. */
export type StubAnswer =
  | { readonly status?: number; readonly json: object }
  | { readonly events: readonly (readonly [string | null, object | string])[] };

/** Pause between two tokens, in milliseconds. */
const PACE_MS = 10;

/** Returns the text of each answer, whatever was asked, in pieces as a model would stream them. */
export function tokensOf(model: unknown): string[] {
  return `I am a stub, not a model. You asked for ${typeof model === "string" ? model : "no model"}.`.split(/(?<= )/);
}

/** Part of Keyplane's instructions to a model that is to take statements out of a conversation. */
const ASKS_FOR_STATEMENTS = '{"statements":';

/**
 * Returns the statements that a model might find in a conversation: what each of its users says. Undefined if no
 * statements are asked for.
 */
export function statementsIn(messages: unknown): string | undefined {
  const [system, user]: unknown[] = Array.isArray(messages) ? messages : [];
  const instructions = contentOf(system);
  if (!instructions.includes(ASKS_FOR_STATEMENTS)) return undefined;
  const said: { role: string; content: string }[] = JSON.parse(contentOf(user));
  const statements = said
    .filter(({ role }) => role === "user")
    .map(({ content }) => ({ content: content.slice(0, 900) }));
  return JSON.stringify({ statements: statements.slice(0, 10) });
}

function contentOf(message: unknown): string {
  const { content } = { content: "", ...(typeof message === "object" ? message : {}) };
  return String(content);
}

/** Words that mean the same to the stub; the first of them stands for all. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["holiday", "vacation", "leave"],
  ["outage", "downtime", "incident"],
  ["release", "deploy", "rollout"],
  ["invoice", "bill"],
  ["vehicle", "car", "automobile"],
];
const MEANING = new Map(SYNONYMS.flatMap(([first = "", ...others]) => others.map((word) => [word, first] as const)));

/** Returns a vector as a model might: near to that of a text with the same words, or with {@link SYNONYMS} of them. */
export function vectorOf(text: unknown, dimensions: unknown): number[] {
  const length = typeof dimensions === "number" ? dimensions : 64;
  const json = JSON.stringify(text ?? "").toLowerCase();
  const words = json.match(/\p{L}{3,}/gu) ?? [json];
  const directions = words.map((word) => directionOf(MEANING.get(word) ?? word));
  return Array.from({ length }, (_, i) => Math.fround(directions.reduce((sum, at) => sum + at(i), 0)));
}

/** Returns a direction of a word's own: of 64 numbers, the directions of two words are nearly at right angles. */
function directionOf(word: string): (i: number) => number {
  const seed = [...word].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 7);
  return (i) => Math.sin(seed * (i + 1));
}

/** Estimates the tokens of any value: four characters each. */
export function countOf(value: unknown): number {
  return Math.max(1, Math.ceil(JSON.stringify(value ?? "").length / 4));
}

/** Sends an answer: events one by one, with a pause after each, until the caller has gone. */
export async function send(response: ServerResponse, answer: StubAnswer): Promise<void> {
  if ("json" in answer) {
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", "x-model-stub": "true" });
    response.end(JSON.stringify(answer.json));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache", "x-model-stub": "true" });
  for (const [name, data] of answer.events) {
    if (response.destroyed) return;
    const text = typeof data === "string" ? data : JSON.stringify(data);
    response.write(`${name === null ? "" : `event: ${name}\n`}data: ${text}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  response.end();
}
