import { PREFIX_LENGTH } from "../../../domain/key/key-format.ts";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import type { AuditPosition } from "../../../store/audit-search.ts";
import { problem } from "../../http/errors.ts";
import { MAX_NAME_LENGTH, queryText } from "../query-text.ts";

/** What the audit log is asked for, as its address has it: empty for whatever it is. */
export type AuditQuery = {
  readonly team: string;
  readonly actor: string;
  /** As `key.revoked`. */
  readonly action: string;
  /** An id, a key's prefix, or a name. */
  readonly about: string;
  /** Milliseconds since the epoch: from then on. */
  readonly from: number | undefined;
  /** Milliseconds since the epoch: before then. */
  readonly to: number | undefined;
  readonly after: AuditPosition | undefined;
};

/** An issuer and a subject: longer ones are no link. */
export const MAX_ACTOR_LENGTH = 2_000;

/** Reads the address: what means nothing there is as if it were left out, since a person may have typed it. */
export function readAuditQuery(query: Readonly<Record<string, unknown>>): AuditQuery {
  const { after } = query;
  return {
    team: queryText(query.team),
    actor: queryText(query.actor, MAX_ACTOR_LENGTH),
    action: queryText(query.action),
    about: queryText(query.about, isKey(query.about) ? PREFIX_LENGTH : MAX_NAME_LENGTH),
    from: readMoment(query.from),
    to: readMoment(query.to),
    after: typeof after === "string" && after !== "" ? readPosition(after) : undefined,
  };
}

/** The address of a page of the log that shows this. */
export function auditUrl(query: Partial<AuditQuery>, path: "/dashboard/audit" | "/dashboard/audit/export"): string {
  const { team, actor, action, about, from, to, after } = query;
  const given = new URLSearchParams();
  for (const [name, text] of Object.entries({ team, actor, action, about })) {
    if (text !== undefined && text !== "") given.set(name, text);
  }
  if (from !== undefined) given.set("from", momentText(from));
  if (to !== undefined) given.set("to", momentText(to));
  if (after !== undefined) given.set("after", `${after.at}-${after.id}`);
  const search = given.toString();
  return `${path}${search === "" ? "" : `?${search}`}`;
}

/** Of a whole key no more is taken than its prefix. */
function isKey(text: unknown): boolean {
  return typeof text === "string" && text.trim().startsWith("inf_");
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

/** @throws Problem `invalid_request` for what is none of ours */
function readPosition(text: string): AuditPosition {
  const [, at, id] = /^(\d{1,17})-(\d{1,15})$/.exec(text) ?? [];
  if (at === undefined || id === undefined) {
    throw problem("invalid_request", "This address of a page of the log is broken: begin at the first page.");
  }
  return { at, id: Number(id) };
}
