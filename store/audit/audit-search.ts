import { type RawBuilder, sql } from "kysely";
import { type BoundedCount, countOfPage, countRows, MAX_COUNT } from "../database/bounded-count.ts";
import {
  type BoundedPage,
  findBoundedPage,
  PAGE_BOUNDS,
  type PageBounds,
  type ScannedRows,
} from "../database/bounded-page.ts";
import type { Db, Tx } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import { isOfTeam } from "../database/rows-of-team.ts";
import { toMs } from "../database/times.ts";
import { unansweredStatement } from "../database/unanswered.ts";

/** Bytes of details after which a page ends: a change of many routes has a megabyte. */
export const MAX_PAGE_BYTES = 2 << 20;

/** Position of an event in the log, the latest first. */
export type AuditPosition = {
  /** Microseconds since the epoch as decimal digits: the database's precision. */
  readonly at: string;
  readonly id: number;
};

/** Search of the audit log. A field that is undefined excludes no event. */
export type AuditSearch = {
  /** Teams whose events are wanted; undefined for all events, including events without a team. */
  readonly teamIds: readonly string[] | undefined;
  readonly kind: string | undefined;
  readonly actor: string | undefined;
  readonly about: AuditSubject | undefined;
  /** Start of the range, in milliseconds since the epoch, inclusive. */
  readonly from: number | undefined;
  /** End of the range, in milliseconds since the epoch, exclusive. */
  readonly to: number | undefined;
  /** Position of the last event of the previous page. */
  readonly after: AuditPosition | undefined;
  readonly limit: number;
};

/** Subject of events: any of these keys, or the object with this id or this name. */
export type AuditSubject = { readonly keyIds: readonly string[]; readonly text: string };

/** Event of the audit log, as it is stored. */
export type StoredAuditEvent = {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Name of the event, such as `key.revoked`. */
  readonly kind: string;
  readonly actor: string;
  readonly keyId: string | null;
  readonly teamId: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** Page of events, and the position at which the next page begins. */
export type FoundAudit = Omit<BoundedPage<AuditPosition>, "positions"> & {
  readonly events: readonly StoredAuditEvent[];
};

/** Finds a page of the audit log, the latest first. */
export async function searchAudit(db: Db, search: AuditSearch, bounds: PageBounds = PAGE_BOUNDS): Promise<FoundAudit> {
  const { positions, next, isPartial } = await findPositions(db, search, bounds);
  const { events, until } = await loadEvents(db, positions);
  return { events, next: until < positions.length ? (positions[until - 1] ?? next) : next, isPartial };
}

/**
 * Counts the events that a search finds on all its pages, exactly up to {@link MAX_COUNT}, and reads a bounded number
 * of rows.
 */
export async function countAudit(
  db: Db,
  { teamIds, kind, actor, about, from, to }: Omit<AuditSearch, "after" | "limit">,
  bounds: PageBounds = PAGE_BOUNDS,
): Promise<BoundedCount> {
  const search: AuditSearch = { teamIds, kind, actor, about, from, to, after: undefined, limit: MAX_COUNT };
  if (!isEveryEvent(search)) return countOfPage(await findPositions(db, search, bounds));
  return countRows(db, sql`from (${latest(search, sql`r.id`, MAX_COUNT + 1)}) event`);
}

function findPositions(db: Db, search: AuditSearch, bounds: PageBounds): Promise<BoundedPage<AuditPosition>> {
  return findBoundedPage(search.limit, bounds, {
    walk: (within) => walk(db, search, within),
    askIndex: () => askIndex(db, search, bounds),
  });
}

/** True if the search asks nothing of an event but its team and its time. */
function isEveryEvent(search: AuditSearch): boolean {
  return termsOf(search).length === 0 && search.about === undefined;
}

/**
 * Loads events by their positions, of a bounded size. Leaves out events that were deleted meanwhile.
 *
 * @returns the events, and the number of positions up to the last one
 */
async function loadEvents(
  db: Db,
  positions: readonly AuditPosition[],
): Promise<{ readonly events: readonly StoredAuditEvent[]; readonly until: number }> {
  const ids = sql`${positions.map(({ id }) => id)}::bigint[]`;
  type Row = Omit<StoredAuditEvent, "at"> & { readonly at: Date; readonly nth: number };
  const { rows } = await sql<Row>`
    select id, at, kind, actor, "keyId", "teamId", detail, nth from (
      select id, at, kind, actor, key_id as "keyId", team_id as "teamId", detail, array_position(${ids}, id) as nth,
        sum(octet_length(detail::text)) over (order by array_position(${ids}, id)
          rows between unbounded preceding and 1 preceding) as before
      from audit_events where id = any(${ids})
    ) event where coalesce(before, 0) < ${MAX_PAGE_BYTES} order by nth`.execute(db);
  const events = rows.map(({ at, nth: _, ...event }) => ({ ...event, at: toMs(at) }));
  return { events, until: rows.at(-1)?.nth ?? positions.length };
}

/**
 * Finds events by an index.
 *
 * @returns undefined if the search asks for nothing rare, or if it proves to be frequent
 */
async function askIndex(
  db: Db,
  search: AuditSearch,
  { found }: PageBounds,
): Promise<ScannedRows<AuditPosition> | undefined> {
  const { teamIds, limit } = search;
  const asked = termsOf(search);
  if (asked.length === 0 && search.about === undefined) return undefined;
  const candidates = [
    ...(asked.length === 0 ? [] : [sql`${TERMS} @> ${asked}::text[]`]),
    ...(search.about === undefined ? [] : [sql`${TERMS} && ${subjectTerms(search.about)}::text[]`]),
    ...(teamIds === undefined ? [] : [sql`${TERMS} && ${teamIds.map((team) => `team ${team}`)}::text[]`]),
  ];
  const rows = await withOrderedPlans(db, async (tx) => {
    // The rows that were found are few, and come in no order.
    await sql`${unansweredStatement} select set_config('enable_sort', 'on', true)`.execute(tx);
    const { rows } = await sql<{ count: number; id: number | null; at: string }>`
      with candidates as materialized (
        select r.* from audit_events r where ${sql.join(candidates, sql` and `)} limit ${found + 1}
      )
      select (select count(*)::integer from candidates) as count, page.id, page.at
      from (select) one left join lateral (
        select r.id, ${MICROS} as at from candidates r where ${isWanted(search)} and ${isWithin(search)}
        order by r.at desc, r.id desc limit ${limit + 1}
      ) page on true`.execute(tx);
    return rows;
  });
  if (rows.some(({ count }) => count > found)) return undefined;
  return { positions: rows.flatMap(({ id, at }) => (id === null ? [] : { id, at })), next: null };
}

async function walk(
  db: Db,
  search: AuditSearch,
  { step, steps }: Pick<PageBounds, "step" | "steps">,
): Promise<ScannedRows<AuditPosition>> {
  const { limit, teamIds } = search;
  const positions: AuditPosition[] = [];
  // Where every event is wanted, no more are looked at than are shown. As many are looked at of each team.
  const length = isEveryEvent(search)
    ? limit + 1
    : Math.max(LEAST_OF_TEAM, Math.floor(Math.max(limit + 1, step) / (teamIds?.length || 1)));
  let after = search.after;
  for (let i = 0; i < steps; i++) {
    const looked = await withOrderedPlans(db, (tx) => walkOn(tx, { ...search, after }, length));
    positions.push(...looked.filter(({ wanted }) => wanted).map(({ at, id }) => ({ at, id })));
    const last = looked.at(-1);
    if (last === undefined || looked.length < length) return { positions, next: null };
    after = { at: last.at, id: last.id };
    if (positions.length > limit) return { positions, next: after };
  }
  return { positions, next: after ?? null };
}

/** Reads the next events of the log, each with whether it matches. */
async function walkOn(tx: Tx, search: AuditSearch, length: number): Promise<(AuditPosition & { wanted: boolean })[]> {
  const columns = sql`r.id, r.at as ordered, ${MICROS} as at, ${isWanted(search)} as wanted`;
  const { rows } = await sql<AuditPosition & { wanted: boolean }>`
    with looked as materialized (${latest(search, columns, length)})
    select id, at, wanted from looked order by ordered desc, id desc limit ${length}`.execute(tx);
  return rows;
}

/** Returns a query for the latest events after the previous page, of the whole log or of each team. */
function latest(search: AuditSearch, columns: RawBuilder<unknown>, length: number): RawBuilder<unknown> {
  const { teamIds } = search;
  if (teamIds === undefined) {
    return sql`select ${columns} from audit_events r where ${isWithin(search)}
      order by r.at desc, r.id desc limit ${length}`;
  }
  return sql`select one.* from unnest(${teamIds}::text[]) team cross join lateral (
    select ${columns} from audit_events r where ${isOfTeam(sql`team`)} and ${isWithin(search)}
    order by r.team_id desc, r.at desc, r.id desc limit ${length}) one`;
}

/** Minimum number of events of each team that a step reads, however many teams there are: a page of a list. */
const LEAST_OF_TEAM = 51;
const MICROS = sql`(extract(epoch from r.at) * 1000000)::bigint::text`;
const TERMS = sql`audit_terms(r.kind, r.actor, r.key_id, r.team_id, r.detail)`;

function isWithin({ from, to, after }: AuditSearch): RawBuilder<unknown> {
  const bounds = [
    ...(from === undefined ? [] : [sql`r.at >= ${momentOf(from)}`]),
    ...(to === undefined ? [] : [sql`r.at < ${momentOf(to)}`]),
    ...(after === undefined
      ? []
      : [sql`(r.at, r.id) < ('epoch'::timestamptz + ${after.at}::bigint * interval '1 microsecond', ${after.id})`]),
  ];
  return bounds.length === 0 ? sql`true` : sql.join(bounds, sql` and `);
}

/** Returns SQL for a time in milliseconds since the epoch. It covers the year 0 too, for which drivers have no text. */
function momentOf(ms: number): RawBuilder<unknown> {
  return sql`('epoch'::timestamptz + ${ms}::float8 * interval '1 millisecond')`;
}

function isWanted({ kind, actor, about }: AuditSearch): RawBuilder<unknown> {
  const wanted = [
    ...(kind === undefined ? [] : [sql`r.kind = ${kind}`]),
    ...(actor === undefined ? [] : [sql`r.actor = ${actor}`]),
    ...(about === undefined ? [] : [sql`${TERMS} && ${subjectTerms(about)}::text[]`]),
  ];
  return wanted.length === 0 ? sql`true` : sql.join(wanted, sql` and `);
}

/** Returns terms of the search that an event must all have in the index of terms. */
function termsOf({ kind, actor }: AuditSearch): string[] {
  return [
    ...(kind === undefined ? [] : [`kind ${firstOf(kind)}`]),
    ...(actor === undefined ? [] : [`actor ${firstOf(actor)}`]),
  ];
}

/** Returns terms of a subject, of which an event must have at least one. */
function subjectTerms({ keyIds, text }: AuditSubject): string[] {
  return [...keyIds.map((id) => `key ${id}`), `object ${firstOf(text)}`, `name ${firstOf(text)}`];
}

/** Returns as many characters of a text as the index holds, counted as the database does. */
function firstOf(text: string): string {
  return [...text].slice(0, 255).join("");
}
