import { type RawBuilder, sql } from "kysely";
import type { PageBounds } from "../../database/bounded-page.ts";
import type { Db } from "../../database/change.ts";
import { toDate } from "../../database/times.ts";
import type { KeyCriteria } from "./key-criteria.ts";
import { type LostNamespace, lostNamespaces } from "./lost-namespaces.ts";

/** Bounds on how much of an index is read. */
export type CandidateBounds = Pick<PageBounds, "found"> & {
  /** Number of namespaces that are checked for being lost to their team. */
  readonly namespaces: number;
};

/**
 * Returns a query for the keys that may match, which an index finds. undefined if most keys may match, or if there are
 * more namespaces than `namespaces` to check.
 */
export async function candidatesOf(
  db: Db,
  { name, state, trait, boundTo, teamIds }: KeyCriteria,
  { found, namespaces }: CandidateBounds,
): Promise<RawBuilder<unknown> | undefined> {
  const ofTeams = teamIds === undefined ? sql`true` : sql`k.team_id = any(${teamIds}::text[])`;
  if (trait?.is === "leaked") {
    return sql`select k.* from (select distinct key_id from key_leaks) l join keys k on k.id = l.key_id where ${ofTeams}`;
  }
  if (boundTo !== undefined) {
    return sql`select k.* from keys k where ${ofTeams} and k.gateway_id = any(${boundTo}::text[])
      union all select k.* from (select distinct key_id from key_libraries where library_id = any(${boundTo}::text[])) l
        join keys k on k.id = l.key_id where ${ofTeams} and (k.gateway_id is null or k.gateway_id <> all(${boundTo}::text[]))`;
  }
  if (name === "" && state?.is === "expired") {
    return sql`select k.* from keys k where ${ofTeams} and k.ends_at <= ${toDate(state.at)}`;
  }
  if (name === "" && state?.is === "suspended") {
    const lost = await lostNamespaces(db, teamIds, namespaces);
    const column = (name: keyof LostNamespace) => sql`${lost?.map((row) => row[name])}::text[]`;
    // With its own bound, a join to no place reads no key: the planner would read every key of a place first.
    return (
      lost &&
      sql`select k.* from keys k where ${ofTeams} and k.state = 'suspended'
        union all select k.* from unnest(${column("teamId")}, ${column("cluster")}, ${column("namespace")})
          as lost (team_id, cluster, namespace) cross join lateral (
            select * from keys
            where (team_id, cluster, namespace) = (lost.team_id, lost.cluster, lost.namespace) and state = 'active'
            limit ${found + 1}
          ) k`
    );
  }
  if (name === "" && state?.is !== "revoked") return undefined;
  const terms = [...termsOf(name), ...(state === undefined ? [] : [state.is === "revoked" ? "ended" : "living"])];
  const teams = teamIds?.map((team) => `team ${team}`);
  const has = (of: RawBuilder<unknown>) =>
    teams === undefined ? sql`${of} @> ${terms}::text[]` : sql`${of} @> ${terms}::text[] and ${of} && ${teams}::text[]`;
  const byName = sql`select k.* from keys k where ${has(NAME_TERMS)}`;
  if (name === "") return byName;
  const others = [
    {
      is: sql`k.display_name <> k.name`,
      terms: DISPLAY_NAME_TERMS,
      found: sql`not (${NAME_TERMS} @> ${terms}::text[])`,
    },
    {
      is: sql`k.facts <> '{}'`,
      terms: FACT_TERMS,
      found: sql`not (${NAME_TERMS} @> ${terms}::text[]
      or (k.display_name <> k.name and ${DISPLAY_NAME_TERMS} @> ${terms}::text[]))`,
    },
  ];
  const more = others.map(
    (one) => sql`union all select k.* from keys k where ${one.is} and ${has(one.terms)} and ${one.found}`,
  );
  return sql`${byName} ${sql.join(more, sql` `)}`;
}

const NAME_TERMS = sql`key_terms(k.team_id, k.state, k.name)`;
/** Index terms of a display name, for keys whose display name differs from the name. */
const DISPLAY_NAME_TERMS = sql`key_terms(k.team_id, k.state, lower(k.display_name))`;
/** Index terms of the facts that a key states for people. */
const FACT_TERMS = sql`key_terms(k.team_id, k.state, fact_text(k.facts))`;

/** Returns the index terms of names that contain this part, or begin with it if it has one or two characters. */
function termsOf(part: string): string[] {
  if (part === "") return [];
  const characters = [...part];
  if (characters.length < 3) return [`^${part}`];
  return characters.slice(2).map((_, i) => characters.slice(i, i + 3).join(""));
}
