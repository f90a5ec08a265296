import type { AuditMark } from "../../../store/audit/audit-feed.ts";
import type { AuditPosition, AuditSearch } from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { auditSubject } from "../../../store/keys/search/audit-subject.ts";
import { problem } from "../../http/problems/problem.ts";
import { requestedTeams } from "../requested-teams.ts";
import type { Rights } from "../rights.ts";

/** Maximum length of an actor: an issuer and a subject are no longer. */
export const MAX_ACTOR_LENGTH = 2_000;

/** Query for the audit log. Empty or undefined fields filter nothing. */
export type AuditQuestion = {
  /** Name or id of a team. */
  readonly team: string;
  readonly actor: string;
  /** Kind of event, such as `key.revoked`. */
  readonly action: string;
  /** Id, prefix of a key, or name. */
  readonly about: string;
  /** Start, inclusive, in milliseconds since the epoch. */
  readonly from: number | undefined;
  /** End, exclusive, in milliseconds since the epoch. */
  readonly to: number | undefined;
};

/** Returns the search for a query, limited to what the caller may see. */
export async function auditSearchOf(
  db: Db,
  rights: Rights,
  { team, actor, action, about, from, to }: AuditQuestion,
): Promise<Omit<AuditSearch, "after" | "limit">> {
  const teamIds = await requestedTeams(db, rights, team);
  return {
    ...{ teamIds, from, to },
    actor: actor === "" ? undefined : actor,
    kind: action === "" ? undefined : action,
    about: about === "" ? undefined : await auditSubject(db, about, teamIds),
  };
}

/** Writes the position at the end of a page as the cursor of the next page. */
export function cursorOf({ at, id }: AuditPosition): string {
  return `${at}-${id}`;
}

/** Reads a cursor that {@link cursorOf} wrote. @throws Problem `invalid_request` for any other text */
export function readAuditCursor(text: string): AuditPosition {
  const [, at, id] = /^(\d{1,17})-(\d{1,15})$/.exec(text) ?? [];
  if (at === undefined || id === undefined) {
    throw problem("invalid_request", "The cursor is not one of ours: begin without one.");
  }
  return { at, id: Number(id) };
}

/** Writes a position in the feed of the log as callers send it back. */
export function markOf({ seq, mark }: AuditMark): string {
  return mark === null ? String(seq) : `${seq}-${mark}`;
}

/** Reads a position that {@link markOf} wrote. @param text checked against the schema */
export function readAuditMark(text: string): AuditMark {
  const [seq, mark] = text.split("-");
  return { seq: Number(seq), mark: mark === undefined ? null : Number(mark) };
}
