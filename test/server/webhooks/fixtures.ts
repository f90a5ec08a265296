import { BlockList } from "node:net";
import { sql } from "kysely";
import type { WebhookEvent } from "../../../domain/webhook/webhook.ts";
import { createLog } from "../../../runtime/log.ts";
import { type GuardedPosts, openGuardedPosts } from "../../../server/gateway/upstream/guarded-post.ts";
import { startWebhooks } from "../../../server/webhooks/sender.ts";
import { change } from "../../../store/database/change.ts";
import type { Store } from "../../../store/database/store.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { saveTeam, type TeamDraft } from "../../../store/teams/teams.ts";
import { type Home, nextVersion, reservationOf, teamDraft, unique } from "../../store/fixtures.ts";
import { keyring } from "../key-index/replica-fixtures.ts";

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
export const ALL: readonly WebhookEvent[] = ["key.rotated", "key.revoked", "key.expiring"];

export function loopback(): BlockList {
  const allowed = new BlockList();
  allowed.addSubnet("127.0.0.0", 8);
  return allowed;
}

/** A team that is notified at these URLs. */
export async function makeNotifiedTeam(store: Store, urls: readonly string[], secret: string | null = SECRET) {
  const webhooks = urls.map((url) => ({ url, events: ALL, secret }));
  const draft = teamDraft({ namespaces: [unique("ns")], webhooks });
  const save = (changed: Partial<TeamDraft>) =>
    change(store, null, (tx) => saveTeam(tx, { ...draft, ...changed }, keyring));
  const { result } = await save({});
  return { ...draft, ...result, namespace: draft.namespaces[0] ?? "", save };
}

/** A key with an active version; `rotate` has the next take over. */
export async function makeKey(store: Store, home: Home) {
  const reservation = reservationOf(home);
  const keyId = reservation.key.id;
  let version = 1;
  const activate = () =>
    change(store, null, (tx) => activateVersion(tx, { keyId, number: version, overlapMs: 60_000 }));
  await change(store, null, (tx) => reserveVersion(tx, reservation));
  await activate();
  return {
    keyId,
    name: reservation.key.name,
    async rotate() {
      version += 1;
      await change(store, null, (tx) => reserveVersion(tx, nextVersion(reservation, version)));
      await activate();
    },
  };
}

type SenderOptions = {
  readonly posts?: GuardedPosts;
  readonly confirmed?: () => boolean;
  readonly timeoutMs?: number;
};

/** A sender that looks often; the test that starts it ends it. */
export function startSender(store: Store, { confirmed = () => true, timeoutMs = 10_000, posts }: SenderOptions = {}) {
  const lines: string[] = [];
  const outcomes: string[] = [];
  const own = posts ?? openGuardedPosts(loopback(), timeoutMs);
  const sender = startWebhooks(
    {
      ...{ store, keyring, posts: own, random: () => 0.5 },
      receipts: { read: async () => (sequence) => ({ sequence, confirmed: confirmed() }) },
      log: createLog("debug", { write: (line) => lines.push(line) }),
      count: (outcome) => outcomes.push(outcome),
    },
    10,
  );
  return {
    lines,
    outcomes,
    async close() {
      await sender.close();
      await own.close();
    },
  };
}

/** What is stored of the deliveries of a team, in the order in which they happened. */
export async function deliveriesOf(store: Store, teamId: string) {
  return store.db.selectFrom("webhook_deliveries").selectAll().where("team_id", "=", teamId).orderBy("at").execute();
}

/** As if what is waited for had passed. */
export async function passPauses(store: Store, teamId: string): Promise<void> {
  await sql`update webhook_deliveries set due_at = statement_timestamp()
    where team_id = ${teamId} and state = 'pending'`.execute(store.db);
}
