import { type RawBuilder, sql } from "kysely";
import type { NamedRef } from "../../../domain/key/declaration/declared-key.ts";
import type { StoredVersion } from "../../../domain/key/stored/stored-key.ts";
import type { Db } from "../../database/change.ts";
import { toDate } from "../../database/times.ts";
import { type LoadedKey, loadKeys, TEAM_HOLDS_NAMESPACE } from "../rows/key-rows.ts";

/** Key as lists show it: of a secret, the prefix alone. */
export type ListedKey = Omit<LoadedKey, "versions"> & { readonly versions: readonly Omit<StoredVersion, "digest">[] };

/**
 * State of a key in one word. An end that has passed takes precedence over a suspension; a key whose team no longer
 * holds its namespace counts as suspended.
 */
export const LISTED_STATES = ["active", "suspended", "expired", "revoked"] as const;
export type ListedState = (typeof LISTED_STATES)[number];

type KeyFilter = {
  readonly cluster?: string | undefined;
  /** Id or name of a team. */
  readonly team?: string | undefined;
  /** Teams whose keys are listed. */
  readonly teamIds?: readonly string[] | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** State that a key is in at that moment, in milliseconds since the epoch. */
  readonly state?: { readonly is: ListedState; readonly at: number } | undefined;
  /** Last id of the previous page. */
  readonly afterId?: string | undefined;
  readonly limit: number;
};

/** Lists a page of keys in the order of their ids, including revoked keys. */
export async function listKeys(db: Db, filter: KeyFilter): Promise<ListedKey[]> {
  const { cluster, team, teamIds, namespace, name, state } = filter;
  const conditions: RawBuilder<unknown>[] = [sql`k.id > ${filter.afterId ?? ""}`];
  if (cluster !== undefined) conditions.push(sql`k.cluster = ${cluster}`);
  if (team !== undefined)
    conditions.push(sql`k.team_id in (select id from teams where id = ${team} or name = ${team})`);
  if (teamIds !== undefined) conditions.push(sql`k.team_id = any(${teamIds}::text[])`);
  if (namespace !== undefined) conditions.push(sql`k.namespace = ${namespace}`);
  if (name !== undefined) conditions.push(sql`k.name = ${name}`);
  if (state !== undefined) conditions.push(isInState(state.is, toDate(state.at)));
  const keys = await loadKeys(db, sql`where ${sql.join(conditions, sql` and `)} order by k.id limit ${filter.limit}`);
  return keys.map(withoutDigests);
}

/** Returns the key as it may be shown, without the digests of its secrets. */
export function withoutDigests(key: LoadedKey): ListedKey {
  return { ...key, versions: key.versions.map(({ digest: _, ...version }) => version) };
}

/**
 * Returns the state of one key, by the rule that {@link listKeys} filters by. A state of a later build counts as
 * revoked.
 */
export function listedState(key: ListedKey, at: number): ListedState {
  if (key.state !== "active" && key.state !== "suspended") return "revoked";
  const ends = [key.policy.expiresAt, key.versions.find(({ state }) => state === "active")?.expiresAt ?? null];
  if (ends.some((end) => end !== null && end <= at)) return "expired";
  return key.teamHoldsNamespace ? key.state : "suspended";
}

/** Returns the SQL condition that a row `k` of `keys` is in a state at a moment. */
export function isInState(state: ListedState, at: Date): RawBuilder<unknown> {
  const expired = sql`k.ends_at <= ${at}`;
  switch (state) {
    case "revoked":
      return sql`k.state not in ('active', 'suspended')`;
    case "expired":
      return sql`k.state in ('active', 'suspended') and ${expired}`;
    case "suspended":
      return sql`k.state in ('active', 'suspended') and not (k.state = 'active' and ${TEAM_HOLDS_NAMESPACE})
        and not ${expired}`;
    case "active":
      return sql`k.state = 'active' and ${TEAM_HOLDS_NAMESPACE} and not ${expired}`;
  }
}

/** Reads the namespaces and names of keys by their ids, limited to keys of these teams; undefined for every team. */
export async function refsOfKeys(
  db: Db,
  ids: readonly string[],
  teamIds: readonly string[] | undefined,
): Promise<Map<string, NamedRef>> {
  const { rows } = await sql<NamedRef & { id: string }>`
    select id, namespace, name from keys where id = any(${ids}::text[])
      ${teamIds === undefined ? sql`` : sql`and team_id = any(${teamIds}::text[])`}`.execute(db);
  return new Map(rows.map(({ id, namespace, name }) => [id, { namespace, name }]));
}
