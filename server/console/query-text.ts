import { searchedText } from "../../domain/key/secret/searched-text.ts";
import { isId } from "../../store/database/ids.ts";
import { problem } from "../http/problems/problem.ts";

/** The longest name, and the longest id. */
export const MAX_NAME_LENGTH = 253;

/**
 * What an address gives for one of its parameters, as text that a database takes; empty for none. Of a whole key, which
 * a page without its script sends, no more than may be shown.
 */
export function queryText(value: unknown, maxLength = MAX_NAME_LENGTH): string {
  if (typeof value !== "string" || !value.isWellFormed()) return "";
  return searchedText(value.replaceAll("\0", "").trim()).slice(0, maxLength);
}

/**
 * The last id of the page before, as an address gives it; undefined for the first page.
 *
 * @throws Problem `invalid_request` for what is none of ours
 */
export function readAfterId(value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && isId(value)) return value;
  throw BROKEN_PAGE;
}

export const BROKEN_PAGE = problem(
  "invalid_request",
  "This address of a page of the list is broken: begin at the first page.",
);

/** An address with these parameters; empty ones are left out. */
export function urlWithQuery(path: string, given: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== "")).toString();
  return search === "" ? path : `${path}?${search}`;
}
