import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { change } from "../../../store/database/change.ts";
import type { Database } from "../../../store/database/schema.ts";
import { saveTeam } from "../../../store/teams/teams.ts";
import { claimDeliveries } from "../../../store/webhooks/claims.ts";
import { listDeliveries, listWebhooks, lockDelivery } from "../../../store/webhooks/delivery-log.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { rowsRead } from "../../env/database/rows-read.ts";
import { makeKey } from "../../server/webhooks/fixtures.ts";
import { makeTeam } from "../fixtures.ts";

type Db = Kysely<Database>;

const DELIVERIES = 20_000;
const TEAMS = 40;
/** A webhook and a team have as many under way as they may. */
const BOUNDS = { ofTeam: 4, underWay: new Map([["team_9", 4]]), fullWebhooks: ["hook_7"] };

describeNightlyOnEachEngine("An outbox of 20,000 deliveries, half of which wait for one webhook", (opened) => {
  beforeAll(async () => {
    const { db } = opened();
    const home = await makeTeam(opened());
    const { keyId } = await makeKey(opened(), home);
    await sql`insert into teams (id, cluster, name, owner_uid, display_name, state, generation)
      select 'team_' || n, 'full', 'full ' || n, n, 'full', 'active', 1 from generate_series(1, ${TEAMS}::int) n`.execute(
      db,
    );
    await sql`insert into team_webhooks (id, team_id, url, events)
      select 'hook_' || n, 'team_' || n, 'https://hooks.example.com', '{key.revoked}'
      from generate_series(1, ${TEAMS}::int) n`.execute(db);
    await sql`insert into webhook_deliveries (id, webhook_id, team_id, url, event, key_id, data, at, state, due_at)
      select 'evt_' || n, 'hook_' || team, 'team_' || team, 'https://hooks.example.com', 'key.revoked', ${keyId}, '{}',
        now() - n * interval '1 second', case when waits then 'pending' else 'delivered' end,
        case when waits then now() - n * interval '1 second' end
      from (select n, case when n % 2 = 0 then 1 else 2 + n / 2 % ${TEAMS - 1}::int end as team,
        n % 2 = 0 or n < 1000 as waits from generate_series(1, ${DELIVERIES}::int) n) made`.execute(db);
  });

  test.for(["without statistics", "with statistics"])(
    "is never read whole to claim some, to show some or to have one sent again, %s",
    async (statistics) => {
      const store = opened();
      if (statistics === "with statistics")
        await sql`analyze teams, team_webhooks, webhook_deliveries`.execute(store.db);
      const claim = (limit: number) => (db: Db) =>
        claimDeliveries({ ...store, db }, randomUUID(), { ...BOUNDS, limit });
      const all = { teamIds: undefined, afterId: undefined, limit: 50 };
      const some = ["team_1", "team_2", "team_3"];
      const questions: readonly (readonly [string, (db: Db) => Promise<unknown>])[] = [
        ["claim one", claim(1)],
        ["claim 16", claim(16)],
        ["the log", (db) => listDeliveries(db, all)],
        ["the log of some teams", (db) => listDeliveries(db, { ...all, teamIds: some })],
        ["the log from a place on", (db) => listDeliveries(db, { ...all, teamIds: some, afterId: "evt_9999" })],
        ["what failed", (db) => listDeliveries(db, { ...all, onlyFailed: true })],
        ["what failed of some teams", (db) => listDeliveries(db, { ...all, teamIds: some, onlyFailed: true })],
        ["one", (db) => db.transaction().execute((tx) => lockDelivery(tx, "evt_9999"))],
        ["the webhooks", (db) => listWebhooks(db, some, 100)],
      ];
      for (const [name, question] of questions) {
        const { scans, rows } = await rowsRead(store.db, ["webhook_deliveries"], question);
        expect({ name, scans }).toEqual({ name, scans: 0 });
        expect(rows, name).toBeLessThanOrEqual(name === "the webhooks" ? 1_100 : 300);
      }
    },
  );

  test("gives each webhook its turn, whatever waits for another, and none that is full", async () => {
    const claimed = await claimDeliveries(opened(), randomUUID(), { ...BOUNDS, limit: 100 });
    const webhooks = claimed.map(({ webhookId }) => webhookId);
    expect(new Set(webhooks).size).toBe(webhooks.length);
    expect(webhooks.length).toBeGreaterThan(TEAMS - 6);
    expect(webhooks.filter((id) => id === "hook_7" || id === "hook_9")).toEqual([]);
  });

  test("b101: gives a team with many webhooks no more than it may have under way, and those that are not due no place", async () => {
    const store = opened();
    await sql`insert into team_webhooks (id, team_id, url, events)
      select 'more_' || n, 'team_40', 'https://hooks.example.com/' || n, '{key.revoked}' from generate_series(1, 9) n`.execute(
      store.db,
    );
    await sql`insert into webhook_deliveries (id, webhook_id, team_id, url, event, key_id, data, at, state, due_at)
      select 'more_' || n || '_' || i, 'more_' || n, 'team_40', 'https://hooks.example.com', 'key.revoked',
        (select min(id) from keys), '{}', now(), 'pending', now() + case when n > 6 then interval '1 hour' else '0' end
      from generate_series(1, 9) n, generate_series(1, 20) i`.execute(store.db);
    const claimOf = async (count: number) => {
      const underWay = new Map([["team_40", count]]);
      const claimed = await claimDeliveries(store, randomUUID(), { ...BOUNDS, underWay, limit: 100 });
      return claimed.filter(({ teamId }) => teamId === "team_40").length;
    };
    const counts: number[] = [];
    for (const count of [0, 1, 3, 4, 5]) counts.push(await claimOf(count));
    expect(counts).toEqual([4, 3, 1, 0, 0]);
    await sql`delete from team_webhooks where id like 'more%'`.execute(store.db);
  });

  test("has what waited for a team's webhooks stopped with them at once", async () => {
    const draft = { cluster: "full", name: "full 1", ownerUid: "1", displayName: "", namespaces: [], members: [] };
    await change(opened(), null, (tx) =>
      saveTeam(tx, {
        ...draft,
        defaultLibrary: null,
        leakAction: "Alert",
        allowedCIDRs: null,
        limits: null,
        webhooks: [],
        generation: 2,
      }),
    );
    const { rows } = await sql<{ state: string }>`
      select distinct state from webhook_deliveries where webhook_id = 'hook_1'`.execute(opened().db);
    expect(rows).toEqual([{ state: "stopped" }]);
  });

  test("b224: reads none of the log for other teams, where statistics know of one team's alone", async () => {
    const { db } = opened();
    await sql`update webhook_deliveries set team_id = 'team_1'`.execute(db);
    await sql`vacuum full analyze webhook_deliveries`.execute(db);
    const others = Array.from({ length: 200 }, (_, i) => `other_${i}`);
    const asked = (on: Db) => listDeliveries(on, { teamIds: others, afterId: undefined, limit: 50 });
    expect((await rowsRead(db, ["webhook_deliveries"], asked)).rows).toBe(0);
  });
});
