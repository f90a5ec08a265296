/** What the three dialects of the stub have in common: the text of its answers, and how they are sent. */
import type { ServerResponse } from "node:http";

/** A parsed JSON body, as far as the stub looks into it. */
export type Body = Readonly<Record<string, unknown>>;

/** An answer: in one piece, or as events of which each is `[name, data]`; a name of null writes none. */
export type StubAnswer =
  | { readonly status?: number; readonly json: object }
  | { readonly events: readonly (readonly [string | null, object | string])[] };

/** The pause between two tokens, in milliseconds. */
const PACE_MS = 10;

/** What the stub says, whatever it is asked, in pieces as a model would stream them. */
export function tokensOf(model: unknown): string[] {
  return `I am a stub, not a model. You asked for ${typeof model === "string" ? model : "no model"}.`.split(/(?<= )/);
}

/** A made-up vector that is the same for the same text. */
export function vectorOf(text: unknown, dimensions: unknown): number[] {
  const length = typeof dimensions === "number" ? dimensions : 8;
  const seed = [...JSON.stringify(text ?? "")].reduce(
    (sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521,
    7,
  );
  return Array.from({ length }, (_, i) => Math.fround(Math.sin(seed * (i + 1))));
}

/** Roughly the tokens of anything: four characters each. */
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
