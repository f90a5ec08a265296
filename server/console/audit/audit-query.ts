import { rfc3339 } from "../../../domain/rfc3339.ts";
import type { AuditPosition } from "../../../store/audit/audit-search.ts";
import {
  type AuditQuestion,
  cursorOf,
  MAX_ACTOR_LENGTH,
  readAuditCursor,
} from "../../management/audit/audit-question.ts";
import { queryText } from "../query-text.ts";

/** What the audit log is asked for, as its address has it. */
export type AuditQuery = AuditQuestion & { readonly after: AuditPosition | undefined };

/** Reads the address: what means nothing there is as if it were left out, since a person may have typed it. */
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

/** The address of a page of the log that shows this, or of a file that has it. */
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

/** As `datetime-local` has it, in UTC. */
export function momentText(at: number): string {
  return rfc3339(at).slice(0, 19);
}

function readMoment(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return undefined;
  const at = Date.parse(`${text}Z`);
  return Number.isNaN(at) ? undefined : at;
}
