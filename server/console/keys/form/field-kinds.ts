import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import { flag, type Html, html } from "../../../pages/html.ts";

/** Kind of a member field: its control, and the text in it for a value in a spec. */
export type FieldKind = {
  readonly control: (attributes: Html, text: string) => Html;
  /** Returns the text for a value; undefined has the text of an empty field. */
  readonly show: (value?: unknown) => string;
  /** Returns the value that a text asks for, unchecked; undefined for none. */
  readonly read: (text: string, stored?: unknown) => unknown;
  /** Returns the text that the form has for what was sent. */
  readonly accept: (sent: string) => string;
};

export const LINE: FieldKind = {
  control: (attributes, text) => html`<input ${attributes} value="${text}" autocomplete="off" spellcheck="false">`,
  show: (value = "") => String(value),
  read: (text) => text || undefined,
  accept: (sent) => sent,
};

/** Number of up to nine digits. Passes on a text that is no number, for the check of the spec to refuse. */
export const NUMBER: FieldKind = { ...LINE, read: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : LINE.read(text)) };

/**
 * List of words, separated by commas or spaces. A stored word that contains a comma stays whole. Only an empty text asks
 * for no list: a comma alone asks for an empty one, which the check of the spec refuses.
 */
export const WORDS: FieldKind = {
  ...LINE,
  show: (words = []) => [words].flat().join(", "),
  read(text, stored = []) {
    if (text === "") return undefined;
    return text === WORDS.show(stored) ? stored : wordsBeside(text, [stored].flat().map(String));
  },
};

/** Splits a text at commas and spaces, and keeps each stored word with a comma whole: the longest of those that match. */
function wordsBeside(text: string, stored: readonly string[]): string[] {
  const whole = stored.filter((word) => word.includes(",")).toSorted((a, b) => b.length - a.length);
  const word = [...whole.map((one) => `${one.replace(/\W/g, "\\$&")}(?![^\\s,])`), "[^\\s,]+"].join("|");
  return text.match(new RegExp(word, "g")) ?? [];
}

/** Splits a text at commas and spaces. */
export function wordsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

/** Time in UTC, as an input of type `datetime-local` has it. Passes on any other text, for the check of the spec. */
export const DATE: FieldKind = {
  ...LINE,
  control: (attributes, text) => html`<input ${attributes} type="datetime-local" value="${text}">`,
  show: (time) => (time === undefined ? "" : rfc3339Millis(Date.parse(String(time))).replace(/(?:\.000)?Z$/, "")),
  read(text) {
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return LINE.read(text);
    return `${text.length === 16 ? `${text}:00` : text}Z`;
  },
};

/** Option of a choice, with the value that a form sends for it. `data` is an attribute that the page's style reads. */
export type Option = { readonly value: string; readonly title: string; readonly data?: Html | "" };

/** Returns the kind of a choice. @param empty value of the option that a spec need not declare */
export function choiceOf(empty: string, offered: readonly Option[]): FieldKind {
  return {
    control: (attributes, text) => selectOf(attributes, offered, text),
    show: (value = empty) => String(value),
    read: (text) => (text === empty ? undefined : text),
    accept: (sent) => (offered.some(({ value }) => value === sent) ? sent : empty),
  };
}

/** Renders a choice among options. @param none text for choosing none of them; empty if one must be chosen */
export function selectOf(attributes: Html, offered: readonly Option[], chosen: string, none = ""): Html {
  return html`<select ${attributes}>${none && html`<option value="">${none}</option>`}${offered.map(
    ({ value, title, data }) =>
      html`<option value="${value}"${data && html` ${data}`} ${flag("selected", value === chosen)}>${title}</option>`,
  )}</select>`;
}
