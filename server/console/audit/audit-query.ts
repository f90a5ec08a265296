import { rfc3339 } from "../../../domain/rfc3339.ts";
import type { AuditPosition } from "../../../store/audit/audit-search.ts";
import {
  type AuditQuestion,
  cursorOf,
  MAX_ACTOR_LENGTH,
  readAuditCursor,
} from "../../management/audit/audit-question.ts";
import { queryText } from "../query-text.ts";

/** Query for the audit log, as in the URL of its page. */
export type AuditQuery = AuditQuestion & { readonly after: AuditPosition | undefined };

/** Reads the query of a URL. Ignores invalid values, since a person may have typed them. */
export function readAuditQuery(query: Readonly<Record<string, unknown>>): AuditQuery {
  const { after } = query;
  return {
    team: queryText(query.team),
    actor: queryText(query.actor, MAX_ACTOR_LENGTH),
    action: queryText(query.action),
    about: queryText(query.about),
    from: readMoment(query.from),
    to: readMoment(query.to),
    after: typeof after === "string" && after !== "" ? readAuditCursor(after) : undefined,
  };
}

/** Returns the URL of a page of the log for this query, or of its export. */
export function auditUrl(
  query: Partial<AuditQuery>,
  path: "/dashboard/audit" | "/dashboard/audit/export" | "/dashboard/audit/export.csv",
): string {
  const { team, actor, action, about, from, to, after } = query;
  const given = new URLSearchParams();
  for (const [name, text] of Object.entries({ team, actor, action, about })) {
    if (text !== undefined && text !== "") given.set(name, text);
  }
  if (from !== undefined) given.set("from", momentText(from));
  if (to !== undefined) given.set("to", momentText(to));
  if (after !== undefined) given.set("after", cursorOf(after));
  const search = given.toString();
  return `${path}${search === "" ? "" : `?${search}`}`;
}

/** Formats a time in UTC as an input of type `datetime-local` has it. */
export function momentText(at: number): string {
  return rfc3339(at).slice(0, 19);
}

function readMoment(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return undefined;
  const at = Date.parse(`${text}Z`);
  return Number.isNaN(at) ? undefined : at;
}
