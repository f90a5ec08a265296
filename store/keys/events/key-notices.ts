import { sql } from "kysely";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { appendAudit } from "../../audit/audit.ts";
import type { Db, Tx } from "../../database/change.ts";
import { type LoadedKey, loadKeys } from "../rows/key-rows.ts";

/** Warning about a key that is given once. */
export type KeyNotice = {
  readonly keyId: string;
  /** `key.expiring` is given once for each different end of a key, `key.consumer_late` once for each newer version. */
  readonly kind: "key.expiring" | "key.consumer_late";
  /**
   * End of the key in milliseconds since the epoch (`key.expiring`), which counts in whole seconds, as a status has it; or
   * the version's number (`key.consumer_late`).
   */
  readonly mark: number;
  readonly detail: Readonly<Record<string, unknown>>;
};

/**
 * Records a notice in the audit log and for the webhooks of the team. Returns false, and does nothing, if it was recorded
 * before.
 */
export async function recordNotice(tx: Tx, { keyId, kind, mark, detail }: KeyNotice): Promise<boolean> {
  const { rows } = await sql<{ team_id: string }>`
    insert into key_notices (key_id, kind, mark) select id, ${kind}, ${mark} from keys where id = ${keyId}
    on conflict (key_id, kind) do update set mark = excluded.mark
      where case key_notices.kind when 'key.expiring' then key_notices.mark / 1000 <> excluded.mark / 1000
        else key_notices.mark < excluded.mark end
    returning (select team_id from keys where id = ${keyId}) as team_id`.execute(tx);
  const [recorded] = rows;
  if (recorded === undefined) return false;
  await appendAudit(tx, [{ at: null, kind, keyId, teamId: recorded.team_id, detail }]);
  return true;
}

/**
 * Lists keys that end soon and that no declaration governs, in the order of their ids. Only teams with a webhook for
 * `key.expiring` are included, and keys with a recorded notice are too.
 *
 * @param withinMs milliseconds from now within which the key ends
 */
export async function ungovernedKeysEnding(
  db: Db,
  withinMs: number,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<LoadedKey[]> {
  return loadKeys(
    db,
    sql`where k.id > ${afterId} and (k.cluster = ${API_CLUSTER} or k.owner_uid is null) and k.state <> 'revoked'
      and k.ends_at > statement_timestamp()
      and k.ends_at < statement_timestamp() + ${withinMs}::float8 * interval '1 millisecond'
      and k.team_id in (select team_id from team_webhooks where 'key.expiring' = any(events))
      order by k.id limit ${limit}`,
  );
}
