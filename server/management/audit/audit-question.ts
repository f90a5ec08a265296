import type { AuditMark } from "../../../store/audit/audit-feed.ts";
import type { AuditPosition, AuditSearch } from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { auditSubject } from "../../../store/keys/search/audit-subject.ts";
import { problem } from "../../http/problems/problem.ts";
import { requestedTeams } from "../requested-teams.ts";
import type { Rights } from "../rights.ts";

/** An issuer and a subject: no actor is longer. */
export const MAX_ACTOR_LENGTH = 2_000;

/** What the audit log is asked for: empty or undefined for whatever it is. */
export type AuditQuestion = {
  /** A team's name or id. */
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
};

/** What to search for, among what the caller may see. */
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

/** Where a page ended, as its successor is asked for. */
export function cursorOf({ at, id }: AuditPosition): string {
  return `${at}-${id}`;
}

/** @throws Problem `invalid_request` for what is none of ours */
export function readAuditCursor(text: string): AuditPosition {
  const [, at, id] = /^(\d{1,17})-(\d{1,15})$/.exec(text) ?? [];
  if (at === undefined || id === undefined) {
    throw problem("invalid_request", "The cursor is not one of ours: begin without one.");
  }
  return { at, id: Number(id) };
}

/** A place in the feed of the log, as it is asked for. */
export function markOf({ seq, mark }: AuditMark): string {
  return mark === null ? String(seq) : `${seq}-${mark}`;
}

/** @param text as the schema has let it in */
export function readAuditMark(text: string): AuditMark {
  const [seq, mark] = text.split("-");
  return { seq: Number(seq), mark: mark === undefined ? null : Number(mark) };
}
