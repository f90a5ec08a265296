import { type RawBuilder, sql } from "kysely";
import type { NamedRef } from "../../../domain/key/declaration/declared-key.ts";
import type { StoredVersion } from "../../../domain/key/stored/stored-key.ts";
import type { Db } from "../../database/change.ts";
import { toDate } from "../../database/times.ts";
import { type LoadedKey, loadKeys, TEAM_HOLDS_NAMESPACE } from "../rows/key-rows.ts";

/** A key as lists show it: of a secret, the prefix alone. */
export type ListedKey = Omit<LoadedKey, "versions"> & { readonly versions: readonly Omit<StoredVersion, "digest">[] };

/**
 * What a key is at a moment, in one word. An end that has come says more than a suspension; a key whose team no longer
 * holds its namespace is suspended too.
 */
export const LISTED_STATES = ["active", "suspended", "expired", "revoked"] as const;
export type ListedState = (typeof LISTED_STATES)[number];

type KeyFilter = {
  readonly cluster?: string | undefined;
  /** A team's id or name. */
  readonly team?: string | undefined;
  /** Those of any of these teams. */
  readonly teamIds?: readonly string[] | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Those that are in this state at that moment, in milliseconds since the epoch. */
  readonly state?: { readonly is: ListedState; readonly at: number } | undefined;
  /** The last id of the page before. */
  readonly afterId?: string | undefined;
  readonly limit: number;
};

/** A page of keys in the order of their ids, revoked ones too. */
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

/** The key as it may be shown. */
export function withoutDigests(key: LoadedKey): ListedKey {
  return { ...key, versions: key.versions.map(({ digest: _, ...version }) => version) };
}

/** The state of one key: the same rule that {@link listKeys} filters by. A state of a later build counts as revoked. */
export function listedState(key: ListedKey, at: number): ListedState {
  if (key.state !== "active" && key.state !== "suspended") return "revoked";
  const ends = [key.policy.expiresAt, key.versions.find(({ state }) => state === "active")?.expiresAt ?? null];
  if (ends.some((end) => end !== null && end <= at)) return "expired";
  return key.teamHoldsNamespace ? key.state : "suspended";
}

/** Whether a row `k` of `keys` is in a state at a moment. */
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

/** Where those keys are that are any of these teams', by their ids; undefined for every team. */
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
