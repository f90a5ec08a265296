import { BROKEN_PAGE, queryText, readAfterId, urlWithQuery } from "../../server/console/query-text.ts";
import { QUERY_TEXT, TAG } from "../request/schemas.ts";
import { EARLIEST, LATEST } from "../request/times.ts";
import type { AtomPosition } from "../store/rows/atom.ts";

type QueryParameters = Readonly<Record<string, unknown>>;

/** Query of the list of libraries. */
export type LibrariesQuery = { readonly team: string; readonly afterId: string | undefined };

/** Query of a library's page: for its newest atoms, or with a text for the atoms closest to it. */
export type AtomsQuery = {
  readonly text: string;
  readonly tag: string;
  readonly after: AtomPosition | null;
};

export function readLibrariesQuery({ team, after }: QueryParameters): LibrariesQuery {
  return { team: queryText(team), afterId: readAfterId(after) };
}

export function librariesUrl({ team, afterId }: LibrariesQuery): string {
  return urlWithQuery("/dashboard/libraries", { team, after: afterId ?? "" });
}

export function readAtomsQuery({ q, tag, after }: QueryParameters): AtomsQuery {
  return {
    text: queryText(q, QUERY_TEXT.maxLength),
    tag: queryText(tag, TAG.maxLength),
    after: typeof after === "string" && after !== "" ? readPosition(after) : null,
  };
}

export function atomsUrl(libraryId: string, { text = "", tag = "", after }: Partial<AtomsQuery>): string {
  return urlWithQuery(`/dashboard/libraries/${libraryId}`, {
    ...{ q: text, tag },
    after: after ? `${after.at}_${after.id}` : "",
  });
}

/** @throws Problem `invalid_request` for a text that is no position of ours */
function readPosition(text: string): AtomPosition {
  const [, at, id] = /^(-?\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text) ?? [];
  if (at === undefined || id === undefined || Number(at) < EARLIEST || Number(at) > LATEST) throw BROKEN_PAGE;
  return { at: Number(at), id };
}
