import { sql } from "kysely";
import type { RevocationReason } from "../../../domain/key/stored/stored-key.ts";
import { type Author, appendAudit } from "../../audit/audit.ts";
import type { Tx } from "../../database/change.ts";
import { ENDED_VERSION_STATES } from "../rows/key-records.ts";

/**
 * Revokes keys and all their versions, for ever. If a key is revoked again, its first reason and time stand.
 *
 * @param by author for the audit log
 */
export async function revokeKeys(
  tx: Tx,
  revocations: readonly { readonly keyId: string; readonly reason: RevocationReason }[],
  by?: Author,
): Promise<void> {
  if (revocations.length === 0) return;
  const ids = revocations.map(({ keyId }) => keyId);
  const { rows: revoked } = await sql<{ id: string; team_id: string; reason: RevocationReason }>`
    update keys set state = 'revoked', revocation_reason = given.reason, revoked_at = clock_timestamp()
    from unnest(${ids}::text[], ${revocations.map(({ reason }) => reason)}::text[]) as given (id, reason)
    where keys.id = given.id and keys.state <> 'revoked'
    returning keys.id, keys.team_id, given.reason`.execute(tx);
  await sql`update key_versions set state = 'revoked'
    where key_id = any(${ids}::text[]) and state <> all(${ENDED_VERSION_STATES}::text[])`.execute(tx);
  await appendAudit(
    tx,
    revoked.map(({ id: keyId, team_id: teamId, reason }) => ({
      ...{ at: null, kind: "key.revoked", keyId, teamId, by, detail: { reason } },
    })),
  );
}

/** Revokes one key as {@link revokeKeys} does. */
export async function revokeKey(tx: Tx, keyId: string, reason: RevocationReason, by?: Author): Promise<void> {
  await revokeKeys(tx, [{ keyId, reason }], by);
}
