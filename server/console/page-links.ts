import type { BoundedCount } from "../../store/database/bounded-count.ts";
import { type Html, html } from "../pages/html.ts";
import { numeral } from "./column-chart.ts";

/** A link to another page of a list, whose script takes the list alone from there. */
export function pageLink(title: string, url: string): Html {
  return html`<a class="button" href="${url}" hx-get="${url}" hx-target="#results" hx-select="#results" hx-swap="outerHTML show:top" hx-push-url="true">${title}</a>`;
}

/** What stands below a list. */
export type Foot = {
  /** How much is shown. */
  readonly said: string;
  /** The address of the first page, where this is another. */
  readonly first: string | undefined;
  /** The address of the page before this one, where it is known. */
  readonly previous?: string | undefined;
  /** The address of the next page, where there is one. */
  readonly next: string | undefined;
  /** Whether more may match before the page is full. */
  readonly isPartial: boolean;
};

export function foot({ said, first, previous, next, isPartial }: Foot): Html {
  return html`<div class="foot"><p class="muted small" role="status">${said}</p>${
    (first !== undefined || next !== undefined) &&
    html`<p class="actions">${first !== undefined && pageLink("First page", first)}${previous !== undefined && pageLink("Previous page", previous)}${
      next !== undefined && pageLink(isPartial ? "Look further" : "Next page", next)
    }</p>`
  }</div>`;
}

/** So many of something, as `1 key on this page`. */
export function countOnPage(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many} on this page`;
}

/** How much all pages of a list have, as `more than 1,000 in all`. */
export function inAll({ count, is }: BoundedCount): string {
  return `${is === "exact" ? "" : is === "more" ? "more than " : "at least "}${numeral(count)} in all`;
}

/** The attributes of a list's form: each letter that is typed asks again, and its button does without script. */
export function searchForm(path: string): Html {
  return html`action="${path}" hx-get="${path}" hx-trigger="input delay:200ms, submit" hx-sync="this:replace" hx-target="#results" hx-select="#results" hx-swap="outerHTML" hx-replace-url="true"`;
}
