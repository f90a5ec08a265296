import { sql } from "kysely";
import type { Db } from "../database/change.ts";
import { queueDeliveries } from "../webhooks/outbox.ts";

/** Who changed something, from where and why. */
export type Author = {
  /** A person or a machine, as it was authenticated. */
  readonly actor: string;
  /** What their issuer calls the person: nothing that may be a key. */
  readonly actorName?: string;
  readonly address?: string;
  /** What a stranger wrote: nothing that may be a key, and nothing that a terminal obeys. */
  readonly userAgent?: string;
  /** In the author's own words. */
  readonly why?: string;
};

/** One thing that happened. Its detail never holds a secret, a digest or a credential. */
export type AuditEvent = {
  /** Milliseconds since the epoch; null for the database's present time. */
  readonly at: number | null;
  /** As `key.revoked`. */
  readonly kind: string;
  readonly keyId?: string | null;
  readonly teamId?: string | null;
  /** Undefined for the controller. */
  readonly by?: Author | undefined;
  readonly detail: Readonly<Record<string, unknown>>;
};

const CONTROLLER: Author = { actor: "controller" };

/**
 * Appends to the audit log, in the transaction of what happened where there is one, and queues the deliveries to the
 * webhooks that subscribe to these events.
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
