/**
 * Pages as text that is safe to send. What is put into a template is escaped, unless it comes from a template itself:
 * escaping cannot be forgotten. Attributes stand in double quotes.
 */

import { isolated, turnsDirection, withBalancedIsolates } from "./isolated-text.ts";

/** Piece of a page. Only {@link html} makes one. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  static of(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
    return new Html(
      contents.reduce<string>(
        (text, content, i) => text + render(content, contextAfter(text)) + strings[i + 1],
        strings[0] ?? "",
      ),
    );
  }
}

/**
 * Values that may be put into a template. undefined, null, true and false render nothing; a list renders its items in
 * order.
 */
export type Content = Html | string | number | boolean | null | undefined | readonly Content[];

/** Renders a template: ``html`<b>${name}</b>` ``. */
export const html: (strings: TemplateStringsArray, ...contents: readonly Content[]) => Html = Html.of;

/** Renders a boolean attribute, such as `checked`, for a tag, after a space; nothing if it is off. */
export function flag(name: "checked" | "disabled" | "hidden" | "open" | "required" | "selected", isOn: boolean): Html {
  return isOn ? FLAGS[name] : NOTHING;
}

const NOTHING = html``;
const FLAGS = {
  checked: html`checked`,
  disabled: html`disabled`,
  hidden: html`hidden`,
  open: html`open`,
  required: html`required`,
  selected: html`selected`,
} as const;

function render(content: Content, context: TextContext): string {
  if (content instanceof Html) return content.toString();
  if (typeof content === "string") return escaped(content, context);
  if (typeof content === "number") return String(content);
  if (Array.isArray(content)) return content.map((one) => render(one, context)).join("");
  return "";
}

/**
 * Context that a text is put into. `label` is shown text that can hold no element: in an attribute, or in an element of
 * text alone. `raw` is any other attribute, and the values that a form sends.
 */
type TextContext = "text" | "label" | "raw";

function contextAfter(text: string): TextContext {
  const start = text.lastIndexOf("<");
  const tag = text.slice(Math.max(start, 0));
  if (start > text.lastIndexOf(">")) return /\s(?:title|aria-label)="[^"]*$/.test(tag) ? "label" : "raw";
  if (/^<textarea\b/.test(tag)) return "raw";
  return /^<(?:title|option)\b/.test(tag) ? "label" : "text";
}

/**
 * Escapes a text that may be a name. If it could turn the direction of the text beside it, an element isolates it, or
 * U+2068 and U+2069 where no element can stand.
 */
function escaped(text: string, context: TextContext): string {
  if (context === "raw" || !turnsDirection(text)) return escapeText(text);
  return context === "text" ? `<bdi>${escapeText(withBalancedIsolates(text))}</bdi>` : escapeText(isolated(text));
}

const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => REFERENCES[character] ?? "");
}
