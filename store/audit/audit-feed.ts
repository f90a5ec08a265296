/** Reads the audit log from the oldest event on, in commit order: no event appears before a position once passed. */
import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { toMs } from "../database/times.ts";
import { MAX_PAGE_BYTES, type StoredAuditEvent } from "./audit-search.ts";

/** Position of a reader in the feed. */
export type AuditMark = {
  /** Seq of the last event that the reader has; 0 for none. */
  readonly seq: number;
  /** Mark of that event's row; null if it is unknown, or there is no such row. */
  readonly mark: number | null;
};

/** Next events, each with its seq, and the position at which the next page begins. */
export type AuditFeedPage = {
  readonly events: readonly (StoredAuditEvent & { readonly seq: number })[];
  readonly next: AuditMark;
};

/** The reader's position does not exist in the database: the database was put back in time. */
export class UnknownAuditMarkError extends Error {}

/** Number of events that are read for one page of a few teams' events. */
const LOOKED_AT = 2_000;

type Row = {
  readonly seq: number;
  readonly mark: number;
  readonly id: number | null;
  readonly at: Date;
  readonly kind: string;
  readonly actor: string;
  readonly keyId: string | null;
  readonly teamId: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
};

/**
 * Reads the next events, of a bounded size. An event comes again if its detail was completed since.
 *
 * @param teamIds teams whose events are wanted; undefined for all
 * @throws UnknownAuditMarkError
 */
export async function readAuditFeed(
  db: Db,
  after: AuditMark,
  limit: number,
  teamIds?: readonly string[],
): Promise<AuditFeedPage> {
  await assertKnown(db, after);
  const { rows } = await sql<Row>`
    select seq, mark, id, at, kind, actor, "keyId", "teamId", detail from (
      select f.seq, f.mark, e.id, e.at, e.kind, e.actor, e.key_id as "keyId", e.team_id as "teamId", e.detail,
        sum(octet_length(e.detail::text)) over (order by f.seq rows between unbounded preceding and 1 preceding) as before
      from (select * from audit_feed where seq > ${after.seq} order by seq
        limit ${teamIds === undefined ? limit : LOOKED_AT}) f
      left join audit_events e on e.id = f.event_id
        and ${teamIds === undefined ? sql`true` : sql`e.team_id = any(${teamIds}::text[])`}
    ) page where coalesce(before, 0) < ${MAX_PAGE_BYTES} order by seq`.execute(db);
  const found = rows.filter(({ id }) => id !== null).slice(0, limit);
  // If the page is full, the rows that were read beyond it belong to the next page.
  const last = found.length === limit ? found.at(-1) : rows.at(-1);
  return {
    events: found.flatMap(({ id, mark: _, at, ...event }) => (id === null ? [] : [{ ...event, id, at: toMs(at) }])),
    next: last === undefined ? after : { seq: last.seq, mark: last.mark },
  };
}

/** Checks that a position exists. A position whose event was deleted since counts as known. */
async function assertKnown(db: Db, { seq, mark }: AuditMark): Promise<void> {
  if (seq === 0) return;
  const { rows } = await sql<{ head: number; mark: number | null }>`
    select audit_head as head, (select f.mark from audit_feed f where f.seq = ${seq}) as mark from feed`.execute(db);
  const [{ head, mark: present } = { head: 0, mark: null }] = rows;
  if (seq > head || (mark !== null && present !== null && present !== mark)) {
    throw new UnknownAuditMarkError("the database was put back in time since");
  }
}
