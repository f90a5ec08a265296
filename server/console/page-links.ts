import type { BoundedCount } from "../../store/database/bounded-count.ts";
import { type Html, html } from "../pages/html.ts";
import { numeral } from "./column-chart.ts";

/** Links to another page of a list. By script, only the list is replaced. */
export function pageLink(title: string, url: string): Html {
  return html`<a class="button" href="${url}" hx-get="${url}" hx-target="#results" hx-select="#results" hx-swap="outerHTML show:top" hx-push-url="true">${title}</a>`;
}

/** Content of the line below a list. */
export type Foot = {
  /** Text that says how much is shown. */
  readonly said: string;
  /** URL of the first page, unless this is the first. */
  readonly first: string | undefined;
  /** URL of the previous page, if it is known. */
  readonly previous?: string | undefined;
  /** URL of the next page, if there is one. */
  readonly next: string | undefined;
  /** True if more may match but the search ended before the page was full. */
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

/** Returns the number of items on a page as text, such as `1 key on this page`. */
export function countOnPage(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many} on this page`;
}

/** Returns the number of items on all pages of a list as text, such as `more than 1,000 in all`. */
export function inAll({ count, is }: BoundedCount): string {
  return `${is === "exact" ? "" : is === "more" ? "more than " : "at least "}${numeral(count)} in all`;
}

/**
 * Returns the attributes of a list's form: the list is updated as a person types, or by the form's button without
 * script.
 */
export function searchForm(path: string): Html {
  return html`action="${path}" hx-get="${path}" hx-trigger="input delay:200ms, submit" hx-sync="this:replace" hx-target="#results" hx-select="#results" hx-swap="outerHTML" hx-replace-url="true"`;
}
