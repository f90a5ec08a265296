/**
 * Finds the model names in a JSON body without parsing and writing it anew: what is not replaced stays byte by byte, and
 * a body that two parsers could read in two ways is refused instead of being guessed at (spec §4, design §4).
 */

/** Where a model name stands: its decoded value, and the bytes of the JSON string, quotes included. */
export type ModelSpan = { readonly value: string; readonly start: number; readonly end: number };

/** The members to look for. Arrays are looked through: `requests: MODEL` means the `model` of each element. */
export type ModelPlaces = { readonly [member: string]: ModelPlaces | "model" };

/** Where OpenAI's and Anthropic's bodies name their model. */
export const TOP_LEVEL: ModelPlaces = { model: "model" };
/** Where Gemini's bodies repeat the model of their path. */
export const GEMINI_REPEATS: ModelPlaces = {
  model: "model",
  requests: { model: "model" },
  generateContentRequest: { model: "model" },
};

/** A body that cannot be read without doubt; the message says why, and holds nothing of the body. */
export class BodyFault extends Error {}

const MAX_DEPTH = 256;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const CLOSER: Readonly<Record<number, number>> = { [OPEN_BRACE]: CLOSE_BRACE, [OPEN_BRACKET]: CLOSE_BRACKET };
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Lists the model names at the given places, in the body's order.
 *
 * @throws BodyFault where the body is no JSON object; a member that is looked for is there twice, is spelt with an
 *   escape or in another case; or a model is not a string
 */
export function findModels(body: Buffer, places: ModelPlaces): ModelSpan[] {
  const found: ModelSpan[] = [];
  const start = skipSpace(body, 0);
  if (body[start] !== OPEN_BRACE) throw new BodyFault("The body is not a JSON object.");
  const end = skipSpace(body, scanObject(body, start, places, found));
  if (end !== body.length) throw new BodyFault("The body goes on behind its JSON object.");
  return found;
}

/** The body with each of the given names replaced, all other bytes as they were. */
export function replaceModels(
  body: Buffer,
  models: readonly ModelSpan[],
  replacement: (old: string) => string,
): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { value, start, end } of models) {
    parts.push(body.subarray(from, start), Buffer.from(JSON.stringify(replacement(value))));
    from = end;
  }
  return Buffer.concat([...parts, body.subarray(from)]);
}

/** Scans the object that begins at `at`; returns the position behind it. */
function scanObject(body: Buffer, at: number, places: ModelPlaces, found: ModelSpan[]): number {
  const seen = new Set<string>();
  let position = skipSpace(body, at + 1);
  if (body[position] === CLOSE_BRACE) return position + 1;
  for (;;) {
    const keyEnd = skipString(body, position);
    const member = memberOf(body, position, keyEnd, places);
    if (member !== undefined && seen.has(member)) throw new BodyFault(`The body has the member \`${member}\` twice.`);
    if (member !== undefined) seen.add(member);
    position = skipSpace(body, keyEnd);
    if (body[position] !== COLON) throw malformed();
    position = skipSpace(body, position + 1);
    position = skipSpace(body, scanValue(body, position, member === undefined ? undefined : places[member], found));
    if (body[position] === CLOSE_BRACE) return position + 1;
    if (body[position] !== COMMA) throw malformed();
    position = skipSpace(body, position + 1);
  }
}

function scanValue(body: Buffer, at: number, place: ModelPlaces | "model" | undefined, found: ModelSpan[]): number {
  if (place === undefined) return skipValue(body, at);
  if (place === "model") {
    if (body[at] !== QUOTE) throw new BodyFault("The body's `model` is not a string.");
    const end = skipString(body, at);
    found.push({ value: decodeString(body, at, end), start: at, end });
    return end;
  }
  if (body[at] === OPEN_BRACE) return scanObject(body, at, place, found);
  if (body[at] !== OPEN_BRACKET) return skipValue(body, at);
  let position = skipSpace(body, at + 1);
  if (body[position] === CLOSE_BRACKET) return position + 1;
  for (;;) {
    // An array within the array is no place of ours: looking through it would nest without end.
    const inner = body[position] === OPEN_BRACE ? place : undefined;
    position = skipSpace(body, scanValue(body, position, inner, found));
    if (body[position] === CLOSE_BRACKET) return position + 1;
    if (body[position] !== COMMA) throw malformed();
    position = skipSpace(body, position + 1);
  }
}

/** The place that a member's name means, where it means one; some parsers match names in any case. */
function memberOf(body: Buffer, start: number, end: number, places: ModelPlaces): string | undefined {
  const text = decodeString(body, start, end);
  const folded = text.toLowerCase();
  const member = Object.keys(places).find((name) => name.toLowerCase() === folded);
  if (member === undefined) return undefined;
  const plain = text === member && end - start === member.length + 2;
  if (!plain) throw new BodyFault(`The body spells the member \`${member}\` with an escape or in another case.`);
  return member;
}

function decodeString(body: Buffer, start: number, end: number): string {
  try {
    const text: unknown = JSON.parse(utf8.decode(body.subarray(start, end)));
    if (typeof text === "string") return text;
  } catch {
    // Falls through: neither the decoder's nor the parser's words are for a client.
  }
  throw malformed();
}

/** Skips any value, however deep, by its brackets and strings. */
function skipValue(body: Buffer, at: number): number {
  const closers: number[] = [];
  let position = at;
  for (;;) {
    const byte = body[position];
    const closer = byte === undefined ? undefined : CLOSER[byte];
    if (byte === QUOTE) position = skipString(body, position);
    else if (closer !== undefined) {
      if (closers.push(closer) > MAX_DEPTH) throw new BodyFault("The body is nested too deeply.");
      position += 1;
    } else if (closers.length > 0 && byte === closers.at(-1)) {
      closers.pop();
      position += 1;
    } else if (closers.length > 0 && (byte === COMMA || byte === COLON)) position += 1;
    else position = skipLiteral(body, position);
    if (closers.length === 0) return position;
    position = skipSpace(body, position);
  }
}

/** Skips a number, `true`, `false` or `null`. */
function skipLiteral(body: Buffer, at: number): number {
  let position = at;
  for (let byte = body[position]; byte !== undefined && isLiteralByte(byte); byte = body[++position]);
  if (position === at) throw malformed();
  return position;
}

function isLiteralByte(byte: number): boolean {
  const isDigit = byte >= 0x30 && byte <= 0x39;
  const isLowerCase = byte >= 0x61 && byte <= 0x7a;
  return isDigit || isLowerCase || byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x45;
}

/** Skips the string that begins at `at`. Searches natively: a prompt may be megabytes of one string. */
function skipString(body: Buffer, at: number): number {
  if (body[at] !== QUOTE) throw malformed();
  let from = at + 1;
  for (;;) {
    const quote = body.indexOf(QUOTE, from);
    if (quote === -1) throw malformed();
    let slash = quote;
    while (slash > from && body[slash - 1] === BACKSLASH) slash -= 1;
    if ((quote - slash) % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

function skipSpace(body: Buffer, at: number): number {
  let position = at;
  for (let byte = body[position]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; ) {
    byte = body[++position];
  }
  return position;
}

function malformed(): BodyFault {
  return new BodyFault("The body is not valid JSON.");
}
