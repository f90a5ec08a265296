import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { toDigest } from "../database/digest.ts";
import { preparedStatement } from "../database/prepared-statement.ts";

/** Object that an upstream keeps for every caller with its credential. */
export type KeptObject = {
  /** SHA-256 of its format, kind and id, as 32 latin1 characters. */
  readonly digest: string;
  /** Origin of the upstream, and the path of its API. */
  readonly origin: string;
};

/** Object of a team. */
export type TeamObject = KeptObject & { readonly teamId: string };

/** Object that a team's call has made. */
export type MadeObject = TeamObject & {
  /** Digest of the conversation that it is in, at the same origin; null for none. */
  readonly parent: string | null;
  /** Milliseconds until its upstream has deleted it by itself; null if it keeps it. */
  readonly lastsMs: number | null;
};

/** Question which of an id's objects are a team's. */
export type OwnerQuestion = { readonly teamId: string; readonly digest: string };

/**
 * Records whose the objects are. An object has one owner: the team that recorded it, until the object has ended. A later
 * end that its team records is its end. Where two teams record one, its upstream has given an id twice, and which object it
 * names is not known: it is no team's until both would have ended.
 *
 * @param made any objects, in any order, also the same one twice
 * @returns those that are no team's
 */
export async function recordOwners(db: Db, made: readonly MadeObject[]): Promise<KeptObject[]> {
  const column = <T>(of: (object: MadeObject) => T): T[] => made.map(of);
  // In the order of the key, so that two statements with the same objects do not wait for each other.
  const { rows } = await sql<{ digest: Uint8Array; origin: string }>`${preparedStatement}
    with recorded as (
      insert into kept_objects as kept (digest, origin, team_id, parent, ends_at)
      select digest, origin, case when min(team_id) = max(team_id) then min(team_id) end, (array_agg(parent))[1],
        case when count(lasts_ms) = count(*) then clock_timestamp() + max(lasts_ms) * interval '1 millisecond' end
      from unnest(${column(({ digest }) => toDigest(digest))}::bytea[], ${column(({ origin }) => origin)}::text[],
        ${column(({ teamId }) => teamId)}::text[],
        ${column(({ parent }) => (parent === null ? null : toDigest(parent)))}::bytea[],
        ${column(({ lastsMs }) => lastsMs)}::float8[]) as made (digest, origin, team_id, parent, lasts_ms)
      group by digest, origin
      order by digest, origin
      on conflict (digest, origin) do update set
        team_id = case when kept.ends_at < clock_timestamp() or kept.team_id = excluded.team_id
          then excluded.team_id end,
        parent = excluded.parent,
        ends_at = nullif(greatest(coalesce(kept.ends_at, 'infinity'), coalesce(excluded.ends_at, 'infinity')), 'infinity'),
        charged_at = case when kept.ends_at < clock_timestamp() then null else kept.charged_at end
      where kept.ends_at < clock_timestamp() or (kept.team_id = excluded.team_id) is not true
        or (kept.parent is not distinct from excluded.parent
          and coalesce(excluded.ends_at, 'infinity') > coalesce(kept.ends_at, 'infinity'))
      returning digest, origin, team_id)
    select digest, origin from recorded where team_id is null order by digest, origin`.execute(db);
  return rows.map(({ digest, origin }) => ({ digest: Buffer.from(digest).toString("latin1"), origin }));
}

/**
 * Finds at which origins teams have objects that have not ended.
 *
 * @returns for each question, in their order, the origins; none for another team's object and for an unknown one
 */
export async function findOwnedOrigins(db: Db, questions: readonly OwnerQuestion[]): Promise<string[][]> {
  const { rows } = await sql<{ origins: string[] }>`${preparedStatement}
    select array(
      select kept.origin from kept_objects kept where kept.digest = asked.digest and kept.team_id = asked.team_id
        and (kept.ends_at is null or kept.ends_at > clock_timestamp()) order by kept.origin) as origins
    from unnest(${questions.map(({ digest }) => toDigest(digest))}::bytea[],
      ${questions.map(({ teamId }) => teamId)}::text[]) with ordinality as asked (digest, team_id, place)
    order by place`.execute(db);
  return rows.map(({ origins }) => origins);
}

/** Ends a team's object, which its upstream has deleted. What is in it goes as rows of ended objects are pruned. */
export async function endKeptObject(db: Db, teamId: string, { digest, origin }: KeptObject): Promise<void> {
  await sql`${preparedStatement}
    update kept_objects set ends_at = clock_timestamp()
    where digest = ${toDigest(digest)} and origin = ${origin} and team_id = ${teamId}`.execute(db);
}

/**
 * Notes that what teams' objects have used is charged.
 *
 * @param objects any objects, also the same one twice
 * @returns for each, in their order, false if it was before, or is not the team's
 */
export async function chargeOnce(db: Db, objects: readonly TeamObject[]): Promise<boolean[]> {
  // Locked in the order of the key, so that two statements with the same objects do not wait for each other.
  const { rows } = await sql<{ place: string }>`${preparedStatement}
    with asked as (
      select * from unnest(${objects.map(({ digest }) => toDigest(digest))}::bytea[],
        ${objects.map(({ origin }) => origin)}::text[],
        ${objects.map(({ teamId }) => teamId)}::text[]) with ordinality as asked (digest, origin, team_id, place)),
    locked as materialized (
      select kept.digest, kept.origin, asked.place from kept_objects kept join asked using (digest, origin, team_id)
      where kept.charged_at is null order by kept.digest, kept.origin for update of kept)
    update kept_objects kept set charged_at = clock_timestamp() from locked
    where kept.digest = locked.digest and kept.origin = locked.origin and kept.charged_at is null
    returning locked.place`.execute(db);
  const places = new Set(rows.map(({ place }) => Number(place)));
  return objects.map((_object, at) => places.has(at + 1));
}

/** Finds whether what teams' objects have used is charged, at each origin where the team has the object. */
export async function findCharged(db: Db, questions: readonly OwnerQuestion[]): Promise<boolean[]> {
  const { rows } = await sql<{ charged: boolean }>`${preparedStatement}
    select coalesce((
      select bool_and(kept.charged_at is not null) from kept_objects kept
      where kept.digest = asked.digest and kept.team_id = asked.team_id), false) as charged
    from unnest(${questions.map(({ digest }) => toDigest(digest))}::bytea[],
      ${questions.map(({ teamId }) => teamId)}::text[]) with ordinality as asked (digest, team_id, place)
    order by place`.execute(db);
  return rows.map(({ charged }) => charged);
}

/** SQL conditions for the rows of ended objects: of what was in an ended conversation, and of objects with nothing in them. */
export const ENDED_OBJECTS = {
  inside: sql`where (o.parent, o.origin) in
    (select digest, origin from kept_objects where ends_at < clock_timestamp() order by ends_at limit 1000)`,
  outside: sql`where o.ends_at < clock_timestamp() and not exists (
    select from kept_objects inner_one where inner_one.parent = o.digest and inner_one.origin = o.origin)
    order by o.ends_at`,
} as const;
