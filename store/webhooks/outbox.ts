import { sql } from "kysely";
import { redactKeys } from "../../domain/redact.ts";
import type { WebhookEvent } from "../../domain/webhook/webhook.ts";
import type { Db } from "../database/change.ts";
import { newId } from "../database/ids.ts";

/** Event of the audit log. */
type Happening = {
  readonly at: number | null;
  readonly kind: string;
  readonly keyId?: string | null;
  readonly teamId?: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
};

/**
 * Queues deliveries of these events to the webhooks that subscribe to them, in the events' own transaction: an event is
 * queued if and only if it has happened. If a webhook is removed meanwhile, the removal waits, or nothing is queued.
 */
export async function queueDeliveries(db: Db, events: readonly Happening[]): Promise<void> {
  const queued = events.flatMap(({ kind, keyId = null, teamId = null, ...happening }) => {
    const event = webhookEventOf(kind, happening.detail);
    const isOfTeam = event?.startsWith("team.") === true;
    const isKnown = isOfTeam ? teamId !== null : keyId !== null;
    return event === undefined || !isKnown ? [] : [{ event, keyId, teamId, isOfTeam, ...happening }];
  });
  if (queued.length === 0) return;
  const { rows: webhooks } = await sql<{ id: string; team_id: string; url: string; place: number }>`
    select w.id, w.team_id, w.url, queued.place::int as place
    from unnest(${queued.map(({ keyId }) => keyId)}::text[], ${queued.map(({ isOfTeam, teamId }) => (isOfTeam ? teamId : null))}::text[],
      ${queued.map(({ event }) => event)}::text[]) with ordinality as queued (key_id, team_id, event, place)
    left join keys k on k.id = queued.key_id
    join team_webhooks w on w.team_id = coalesce(queued.team_id, k.team_id) and queued.event = any(w.events)
    order by queued.place, w.id for share of w`.execute(db);
  for (const [index, { at, event, keyId, teamId, detail }] of queued.entries()) {
    const addressed = webhooks.filter(({ place }) => place === index + 1);
    if (addressed.length === 0) continue;
    const whose = keyId === null ? await describeTeam(db, teamId) : await describeKey(db, keyId, detail.version);
    const data = JSON.stringify({ ...whose, ...detail });
    await db
      .insertInto("webhook_deliveries")
      .values(
        addressed.map(({ id, team_id, url }) => ({
          ...{ id: newId("evt"), webhook_id: id, team_id, url, event, key_id: keyId, data },
          ...(at === null ? {} : { at: new Date(at) }),
        })),
      )
      .execute();
  }
}

/** Returns the name that webhooks have for an event of the audit log; undefined if they are not notified of it. */
function webhookEventOf(kind: string, detail: Readonly<Record<string, unknown>>): WebhookEvent | undefined {
  switch (kind) {
    case "key.activated":
      return detail.succeeds == null ? undefined : "key.rotated";
    case "key.revoked":
    case "key.expiring":
    case "key.consumer_late":
    case "key.leaked":
    case "key.budget_reached":
    case "team.budget_reached":
      return kind;
    default:
      return undefined;
  }
}

async function describeTeam(db: Db, teamId: string | null): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await sql<{ name: string }>`select name from teams where id = ${teamId}`.execute(db);
  return { teamId, team: rows[0]?.name };
}

/**
 * Describes a key, without a secret and without anything that is made of a secret.
 *
 * @param version number of the version to describe; if undefined, the latest that was activated, or else the latest
 */
async function describeKey(db: Db, keyId: string, version: unknown): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await sql<Record<"name" | "namespace" | "team" | "prefix", string> & { version: number }>`
    select k.name, k.namespace, t.name as team, v.prefix, v.number as version
    from keys k join teams t on t.id = k.team_id join key_versions v on v.key_id = k.id
    where k.id = ${keyId}
    order by v.number = ${version ?? null}::int desc nulls last, v.activated_at is not null desc, v.number desc limit 1`.execute(
    db,
  );
  const [key] = rows;
  if (key === undefined) return { keyId };
  const { name, ...rest } = key;
  return { keyId, name: redactKeys(name), ...rest };
}
