import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { queueDeliveries } from "../webhooks/outbox.ts";

/** Author of a change: the actor, its address and tool, and the reason. */
export type Author = {
  /** Person or machine, as it was authenticated. */
  readonly actor: string;
  /** Name that the issuer gives the person, with everything removed that may be a key. */
  readonly actorName?: string;
  readonly address?: string;
  /** User agent as an unknown client sent it, without anything that may be a key and without terminal controls. */
  readonly userAgent?: string;
  /** Reason in the author's own words. */
  readonly why?: string;
};

/** Event for the audit log. Its detail never holds a secret, a digest or a credential. */
export type AuditEvent = {
  /** Milliseconds since the epoch; null for the database's present time. */
  readonly at: number | null;
  /** Name of the event, such as `key.revoked`. */
  readonly kind: string;
  readonly keyId?: string | null;
  readonly teamId?: string | null;
  /** Author; undefined for the controller. */
  readonly by?: Author | undefined;
  readonly detail: Readonly<Record<string, unknown>>;
};

const CONTROLLER: Author = { actor: "controller" };

/**
 * Appends events to the audit log, in the transaction of the change if there is one, and queues their deliveries to the
 * webhooks that subscribe to them.
 */
export async function appendAudit(db: Db, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  await db
    .insertInto("audit_events")
    .values(
      events.map(({ at, kind, keyId, teamId, by: { actor, ...from } = CONTROLLER, detail }) => ({
        at: at === null ? sql<Date>`clock_timestamp()` : new Date(at),
        kind,
        key_id: keyId ?? null,
        team_id: teamId ?? null,
        actor,
        detail: JSON.stringify({ ...detail, ...from }),
      })),
    )
    .execute();
  await queueDeliveries(db, events);
}
