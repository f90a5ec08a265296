import { sql } from "kysely";
import type { Db } from "../../database/change.ts";

/** Maximum number of keys of one subject that are named at once. */
const MAX_NAMED = 1_000;

/** Key as it may be named: of its secret the prefix alone. */
export type NamedKey = {
  readonly id: string;
  /** Namespace; empty for a key that was made without a namespace. */
  readonly namespace: string;
  readonly name: string;
  /** Prefix of the newest version that the subject made. */
  readonly prefix: string;
};

/**
 * Lists the living keys of a team with a living version that a subject made by hand: the subject may have its secret.
 *
 * @param subject name of the subject, at any issuer
 */
export async function keysMadeBy(db: Db, teamId: string, subject: string): Promise<NamedKey[]> {
  // An issuer's name has no # in it.
  const { rows } = await sql<NamedKey>`
    select k.id, k.namespace, k.name, (array_agg(v.prefix order by v.number desc))[1] as prefix
    from keys k join key_versions v on v.key_id = k.id
    where k.team_id = ${teamId} and k.state <> 'revoked' and k.ends_at > clock_timestamp()
      and v.state in ('reserved', 'active', 'retiring') and coalesce(v.retire_at, 'infinity') > clock_timestamp()
      and position('#' in v.made_by) > 0 and substr(v.made_by, position('#' in v.made_by) + 1) = ${subject}
    group by k.id, k.namespace, k.name order by k.id limit ${MAX_NAMED}`.execute(db);
  return rows;
}
