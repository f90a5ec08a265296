import { type RawBuilder, sql } from "kysely";
import type { WebhookEvent } from "../../domain/webhook/webhook.ts";
import type { Tx } from "../database/change.ts";
import { newId } from "../database/ids.ts";
import { sealingKeyring } from "../encryption/encryption-key.ts";
import { isSealedAs, type Keyring, openSealed, seal } from "../encryption/keyring.ts";

/** Declared webhook. Its URL is its identity within the team. */
export type WebhookDraft = {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Signing secret in clear text; null for none, undefined to keep the stored secret. */
  readonly secret: string | null | undefined;
};

/**
 * Stores a team's webhooks. Writes only the webhooks that differ: a stored secret that has not changed keeps its
 * ciphertext, unless that is under an old key. Cancels pending deliveries to a removed webhook, or of an event that a
 * webhook no longer wants.
 *
 * @returns URLs of the webhooks whose secret changed
 */
export async function saveWebhooks(
  tx: Tx,
  teamId: string,
  drafts: readonly WebhookDraft[],
  keyring: Keyring,
): Promise<string[]> {
  const stored = await tx.selectFrom("team_webhooks").selectAll().where("team_id", "=", teamId).execute();
  // Most teams have none, and are spared the rest.
  if (stored.length === 0 && drafts.length === 0) return [];
  const changedSecrets: string[] = [];
  const sealing = await sealingKeyring(tx, keyring);
  const gone = stored.filter(({ url }) => !drafts.some((draft) => draft.url === url)).map(({ id }) => id);
  if (gone.length > 0) {
    await tx.deleteFrom("team_webhooks").where("id", "in", gone).execute();
    await stopDeliveries(tx, sql`webhook_id = any(${gone}::text[])`, "the webhook was removed from the team");
  }
  for (const { url, events, secret: given } of drafts) {
    const old = stored.find((row) => row.url === url);
    const id = old?.id ?? newId("hook");
    const before = old?.secret ? openSealed(keyring, old.secret, id) : null;
    const secret = given === undefined ? before : given;
    const stays = given === undefined || isSealedAs(sealing, old?.secret ?? null, secret, id);
    if (old !== undefined && given !== undefined && before !== secret) changedSecrets.push(url);
    const row = {
      events: [...events].sort(),
      secret: stays ? (old?.secret ?? null) : secret === null ? null : seal(sealing, secret, id),
    };
    if (old === undefined) {
      await tx
        .insertInto("team_webhooks")
        .values({ id, team_id: teamId, url, ...row })
        .execute();
    } else if (!stays || old.events.join() !== row.events.join()) {
      await tx.updateTable("team_webhooks").set(row).where("id", "=", id).execute();
      const unwanted = sql`webhook_id = ${id} and event <> all(${row.events}::text[])`;
      await stopDeliveries(tx, unwanted, "the webhook no longer wants this event");
    }
  }
  return changedSecrets;
}

/**
 * Removes all of a team's webhooks.
 *
 * @param why recorded with the deliveries that are cancelled
 */
export async function removeWebhooks(tx: Tx, teamId: string, why: string): Promise<void> {
  await tx.deleteFrom("team_webhooks").where("team_id", "=", teamId).execute();
  await stopDeliveries(tx, sql`team_id = ${teamId}`, why);
}

/** Cancels pending deliveries. The outcome of an attempt in progress is not recorded any more. */
async function stopDeliveries(tx: Tx, which: RawBuilder<unknown>, why: string): Promise<void> {
  await sql`update webhook_deliveries set state = 'stopped', due_at = null, claim = null, error = ${why}
    where state = 'pending' and ${which}`.execute(tx);
}
