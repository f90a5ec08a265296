import { isDeepStrictEqual } from "node:util";
import type { StoredAuditEvent } from "../../../store/audit/audit-search.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { isolated } from "../../pages/isolated-text.ts";
import { numeral } from "../column-chart.ts";
import { inParts } from "../in-parts.ts";
import type { ReferenceNames } from "./reference-names.ts";

export function toneOfAction(kind: string): "good" | "warn" | "bad" | "" {
  if (/\.(revoked|deleted|leaked)$/.test(kind)) return "bad";
  if (/\.(refused|used|retired|released)$/.test(kind)) return "warn";
  return /\.(created|activated|begun|made)$/.test(kind) ? "good" : "";
}

/**
 * Fields of a detail that say who, from where, why and about what. The page shows them elsewhere than among the
 * changes.
 */
const SHOWN_ELSEWHERE = new Set([
  "changed",
  "id",
  "name",
  "namespace",
  "cluster",
  "uid",
  "address",
  "userAgent",
  "actorName",
  "why",
]);
/** Characters of a value that are shown at once. A longer value folds out, up to `FOLDED_OUT` characters. */
const SHOWN = 90;
const FOLDED_OUT = 4_000;

/**
 * Shows what an event changed, field by field, and its other details, as they are stored, with the names that ids stand
 * for.
 */
export function auditDetail({ detail }: Pick<StoredAuditEvent, "detail">, names: ReferenceNames): Html {
  const { why } = detail;
  const changes = Object.entries(isRecord(detail.changed) ? detail.changed : {});
  const others = Object.entries(detail).filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null);
  return html`${changes.length > 0 && html`<dl class="changes">${changes.map(([field, change]) => html`<dt>${field}</dt><dd>${beforeAndAfter(change, names)}</dd>`)}</dl>`}${
    typeof why === "string" && html`<span class="line">“${clamp(why)}”</span>`
  }${others.length > 0 && html`<small>${others.map(([name, value], i) => html`${i > 0 && " · "}${name} ${clamp(textOf(value, names))}`)}</small>`}`;
}

function beforeAndAfter(change: unknown, names: ReferenceNames): Content {
  if (!isRecord(change)) return valueText(change, names);
  const { before = null, after = null } = change;
  if (before === null) return html`<ins>${valueText(after, names)}</ins>`;
  if (after === null) return html`<del>${valueText(before, names)}</del>`;
  const shift = shiftOf(before, after);
  if (shift !== undefined) {
    const { more, hasGrown, stay, isAtEnd } = shift;
    const rest = `beside ${numeral(stay)} that ${stay === 1 ? "stays" : "stay"}${isAtEnd ? "" : "; all in their order now:"}`;
    const shown = hasGrown ? html`<ins>${valueText(more, names)}</ins>` : html`<del>${valueText(more, names)}</del>`;
    return html`${shown} <span class="muted">${rest}</span>${!isAtEnd && html` ${valueText(after, names)}`}`;
  }
  return html`<del>${valueText(before, names)}</del> <span aria-hidden="true">→</span><span class="unseen">became</span> <ins>${valueText(after, names)}</ins>`;
}

/**
 * Returns the records that were added to a list, or removed from it. undefined unless the list has only grown or only
 * shrunk and the other records keep their order, since in some lists the first counts for more. A list of texts is
 * short, and is shown with its former value.
 */
function shiftOf(before: unknown, after: unknown) {
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  const hasGrown = before.length < after.length;
  const [longer, shorter] = hasGrown ? [after, before] : [before, after];
  const known = new Set(shorter.map((one) => JSON.stringify(one)));
  const more = longer.filter((one) => !known.has(JSON.stringify(one)));
  const kept = longer.filter((one) => known.has(JSON.stringify(one)));
  if (more.length === 0 || !more.every(isRecord) || !isDeepStrictEqual(kept, shorter)) return undefined;
  const isAtEnd = isDeepStrictEqual(longer.slice(0, shorter.length), shorter);
  return { more, hasGrown, stay: shorter.length, isAtEnd };
}

function valueText(value: unknown, names: ReferenceNames): Content {
  const text = textOf(value, names);
  if (text.length <= SHOWN) return inParts(text);
  return html`<details><summary>${inParts(cut(text, SHOWN))}</summary><span class="whole-value">${inParts(clamp(text))}</span></details>`;
}

function textOf(value: unknown, names: ReferenceNames): string {
  if (typeof value === "string") return value === "" ? "empty" : isolated(withName(value, names));
  if (Array.isArray(value)) {
    if (value.length === 0) return "none";
    return value.map((one) => textOf(one, names)).join(value.some(isRecord) ? ";\n" : ", ");
  }
  if (typeof value === "number") return numeral(value);
  if (!isRecord(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${textOf(inner, names)}`)
    .join(", ");
}

function withName(text: string, names: ReferenceNames): string {
  const name = names.get(text);
  return name === undefined ? text : `${name} (${text})`;
}

function clamp(text: string): string {
  return text.length <= FOLDED_OUT ? text : `${cut(text, FOLDED_OUT)} (the export has all ${text.length} characters)`;
}

/** Cuts a text after at most `length` UTF-16 code units, and not within a surrogate pair. */
function cut(text: string, length: number): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length;
  return `${text.slice(0, end)}…`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
