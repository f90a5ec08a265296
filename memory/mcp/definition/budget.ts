import { PAGE_BYTES } from "../../../store/libraries/page.ts";
import { estimateTokens } from "../../rules/token-estimate.ts";

/** How long an answer may be: what is structured and the text that says the same, each by itself. */
export const MAX_TOKENS = {
  type: "integer",
  minimum: 200,
  maximum: 20_000,
  default: 4_000,
} as const;

/** What a part of an answer takes: as JSON, with a comma, or as a paragraph of the text, whichever is longer. */
export function tokensIn(structured: unknown, text: string): number {
  return Math.max(estimateTokens(`${JSON.stringify(structured)},`), estimateTokens(`${text}\n\n`));
}

/** What is read of the store for an answer: a token has four characters at most, a character of them three bytes. */
export function readSize(maxTokens: number): { readonly bytes: number; readonly characters: number } {
  return { bytes: Math.min(PAGE_BYTES, 12 * maxTokens), characters: 4 * maxTokens + 1 };
}

/**
 * The first of these items that there is room for: the beginning of one in any case.
 *
 * @param shorten an item as short as this many tokens
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

/** The beginning of a text, no half of a character at its end. */
export function beginning(text: string, length: number): string {
  const begun = text.slice(0, length);
  return begun.isWellFormed() ? begun : begun.slice(0, -1);
}

/** The longest beginning of a text, up to so many characters, that passes. */
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

/** The beginning of a text that takes no more than so many tokens. */
export function textWithin(text: string, tokens: number): string {
  return longest(text, 4 * tokens, (begun) => tokensIn(begun, begun) <= tokens);
}

/** The list that an answer is about: programs go through it, also where it is empty. */
const ALWAYS_THERE = "items";

/** An answer's fields but those at their default: false, null, and empty texts and lists. */
export function compact<Fields extends object>(fields: Fields): Partial<Fields> {
  const isDefault = (value: unknown) => !value || (Array.isArray(value) && value.length === 0);
  const shown = Object.entries(fields).filter(([name, value]) => name === ALWAYS_THERE || !isDefault(value));
  // Partial: the fields at their default are left out.
  return Object.fromEntries(shown) as Partial<Fields>;
}

/** What is said in one line. */
export function sentences(...parts: readonly (string | undefined | null | false)[]): string {
  return parts.filter((part) => part).join(" ");
}

/** The paragraphs of a text, without those that are not there. */
export function paragraphs(...parts: readonly (string | undefined | null | false)[]): string {
  return parts.filter((part) => part).join("\n\n");
}
