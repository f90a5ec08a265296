import { searchedText } from "../../domain/key/secret/searched-text.ts";
import { isId } from "../../store/database/ids.ts";
import { problem } from "../http/problems/problem.ts";

/** Length of the longest name and of the longest id. */
export const MAX_NAME_LENGTH = 253;

/**
 * Reads a parameter of a URL as text that the database can store; empty for none. Shortens a whole key, which a page
 * without its script sends, to the part that may be shown.
 */
export function queryText(value: unknown, maxLength = MAX_NAME_LENGTH): string {
  if (typeof value !== "string" || !value.isWellFormed()) return "";
  return searchedText(value.replaceAll("\0", "").trim()).slice(0, maxLength);
}

/**
 * Reads the id of the last item of the previous page from a URL; undefined for the first page.
 *
 * @throws Problem `invalid_request` for a text that is no id
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

/** Returns a URL with these parameters, without empty ones. */
export function urlWithQuery(path: string, given: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== "")).toString();
  return search === "" ? path : `${path}?${search}`;
}
