import { PAGE_BYTES } from "../../../store/libraries/page.ts";
import { estimateTokens } from "../../rules/token-estimate.ts";

/** JSON Schema of an answer's longest size, in tokens: of the structured part and of the text, each by itself. */
export const MAX_TOKENS = {
  type: "integer",
  minimum: 200,
  maximum: 20_000,
  default: 4_000,
} as const;

/** Returns the tokens of a part of an answer: as JSON with a comma, or as a paragraph of text, whichever is longer. */
export function tokensIn(structured: unknown, text: string): number {
  return Math.max(estimateTokens(`${JSON.stringify(structured)},`), estimateTokens(`${text}\n\n`));
}

/** Returns how much is read for an answer: a token has four characters at most, a character of them three bytes. */
export function readSize(maxTokens: number): { readonly bytes: number; readonly characters: number } {
  return { bytes: Math.min(PAGE_BYTES, 12 * maxTokens), characters: 4 * maxTokens + 1 };
}

/**
 * Returns the first of these items that fit: the beginning of one in any case.
 *
 * @param shorten returns the item, shortened to this many tokens
 */
export function fitting<Item>(
  items: readonly Item[],
  tokens: number,
  { costOf, shorten }: { costOf(item: Item): number; shorten(item: Item, tokens: number): Item },
): Item[] {
  const shown: Item[] = [];
  let left = tokens;
  for (const item of items) {
    const cost = costOf(item);
    if (cost > left) return shown.length > 0 ? shown : [shorten(item, left)];
    left -= cost;
    shown.push(item);
  }
  return shown;
}

/** Returns the beginning of a text, without half a character at its end. */
export function beginning(text: string, length: number): string {
  const begun = text.slice(0, length);
  return begun.isWellFormed() ? begun : begun.slice(0, -1);
}

/** Returns the longest beginning of a text, up to so many characters, that passes a check. */
export function longest(text: string, length: number, passes: (begun: string) => boolean): string {
  let low = 0;
  let high = Math.min(text.length, length);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (passes(beginning(text, middle))) low = middle;
    else high = middle - 1;
  }
  return beginning(text, low);
}

/** Returns the beginning of a text that takes no more than so many tokens. */
export function textWithin(text: string, tokens: number): string {
  return longest(text, 4 * tokens, (begun) => tokensIn(begun, begun) <= tokens);
}

/** Name of the list that an answer is about: programs go through it, even if it is empty. */
const ALWAYS_THERE = "items";

/** Leaves out an answer's fields at their default: false, null, and empty texts and lists. */
export function compact<Fields extends object>(fields: Fields): Partial<Fields> {
  const isDefault = (value: unknown) => !value || (Array.isArray(value) && value.length === 0);
  const shown = Object.entries(fields).filter(([name, value]) => name === ALWAYS_THERE || !isDefault(value));
  // Partial: the fields at their default are left out.
  return Object.fromEntries(shown) as Partial<Fields>;
}

/** Joins sentences into one line, without the absent ones. */
export function sentences(...parts: readonly (string | undefined | null | false)[]): string {
  return parts.filter((part) => part).join(" ");
}

/** Joins the paragraphs of a text, without the absent ones. */
export function paragraphs(...parts: readonly (string | undefined | null | false)[]): string {
  return parts.filter((part) => part).join("\n\n");
}
