/**
 * Pages as text that is safe to send. What is put into a template is escaped, unless it comes from a template itself: so
 * nobody can forget to. Attributes stand in double quotes.
 */

import { balanced, turnsDirection } from "./isolated-text.ts";

/** A piece of a page. Only {@link html} makes one. */
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
        (text, content, i) => text + render(content, placeAfter(text)) + strings[i + 1],
        strings[0] ?? "",
      ),
    );
  }
}

/** What may be put into a template. Nothing is shown of undefined, null, true and false; a list is shown in its order. */
export type Content = Html | string | number | boolean | null | undefined | readonly Content[];

/** A template: ``html`<b>${name}</b>` ``. */
export const html: (strings: TemplateStringsArray, ...contents: readonly Content[]) => Html = Html.of;

/** An attribute that is there or not, such as `checked`: to be put into a tag behind a space. */
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

function render(content: Content, place: Place): string {
  if (content instanceof Html) return content.toString();
  if (typeof content === "string") return place === "text" ? isolated(content) : escapeText(content);
  if (typeof content === "number") return String(content);
  if (Array.isArray(content)) return content.map((one) => render(one, place)).join("");
  return "";
}

/** Where a text is put: `raw` is an attribute, or an element that holds text alone and isolates it itself. */
type Place = "text" | "raw";

function placeAfter(text: string): Place {
  const tag = text.lastIndexOf("<");
  const isInTag = tag > text.lastIndexOf(">");
  return isInTag || /<(?:title|option|textarea)\b[^<]*$/.test(text.slice(Math.max(tag, 0))) ? "raw" : "text";
}

/** A text that may be a name: where it could turn the direction of what stands beside it, an element keeps it apart. */
function isolated(text: string): string {
  return turnsDirection(text) ? `<bdi>${escapeText(balanced(text))}</bdi>` : escapeText(text);
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
