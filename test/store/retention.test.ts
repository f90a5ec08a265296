import { sql } from "kysely";
import { expect, test } from "vitest";
import { startPeriodically } from "../../runtime/periodic.ts";
import { appendAudit } from "../../store/audit/audit.ts";
import type { Store } from "../../store/database/store.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import { findKey, findKeyOfDigest } from "../../store/keys/rows/find-key.ts";
import { recordUsage } from "../../store/keys/uses/usage.ts";
import { prune } from "../../store/retention.ts";
import { describeNightlyOnEachEngine } from "../env/database/engines.ts";
import { until } from "../env/until.ts";
import { makeTeam, reserveKey, run, unique } from "./fixtures.ts";

const DAY = 24 * 3_600_000;
const ago = (days: number) => Date.now() - days * DAY;

describeNightlyOnEachEngine("what is over", (store) => {
  const kinds = async (of: Store, prefix: string) =>
    (
      await of.db.selectFrom("audit_events").select("kind").where("kind", "like", `${prefix}%`).orderBy("id").execute()
    ).map(({ kind }) => kind.slice(prefix.length));

  const append = (prefix: string, ...days: number[]) =>
    appendAudit(
      store().db,
      days.map((day) => ({ at: ago(day), kind: `${prefix}${day}`, detail: {} })),
    );

  test("b88: audit events are forgotten after the retention, and not before", async () => {
    const prefix = unique("kept");
    await append(prefix, 100, 91, 89, 1);
    await prune(store(), 90 * DAY);
    expect(await kinds(store(), prefix)).toEqual(["89", "1"]);
    await prune(store(), 30 * DAY);
    expect(await kinds(store(), prefix)).toEqual(["1"]);
  });

  test("b88: many that are over are forgotten in batches, by any number of processes at once", async () => {
    await sql`insert into audit_events (at, kind, actor, detail)
      select now() - interval '100 days', 'old', 'test', '{}' from generate_series(1, 3500)`.execute(store().db);
    const pruned = await Promise.all([1, 2, 3].map(() => prune(store(), 90 * DAY)));
    expect(pruned.reduce((sum, { auditEvents }) => sum + auditEvents, 0)).toBe(3_500);
    expect(await kinds(store(), "old")).toEqual([]);
  });

  test("of an ended version the last use goes; a secret that was revoked stays known for ever", async () => {
    const team = await makeTeam(store());
    const [ended, living] = [await reserveKey(store(), team), await reserveKey(store(), team)];
    for (const { key } of [ended, living]) await recordUsage(store(), [{ keyId: key.id, version: 1, at: ago(100) }]);
    await run(store(), (tx) => revokeKey(tx, ended.key.id, "ByHand"), ago(100));
    await prune(store(), 90 * DAY);
    const used = await store().db.selectFrom("key_usage").select("key_id").execute();
    expect(used.map(({ key_id }) => key_id)).toEqual([living.key.id]);
    expect((await findKey(store().db, ended.key.id))?.revocation?.reason).toBe("ByHand");
    expect((await findKeyOfDigest(store().db, ended.digest))?.state).toBe("revoked");
  });

  test("b88: of webhooks' deliveries those go that are over, and in the end those that were never taken", async () => {
    await sql`insert into webhook_deliveries (id, webhook_id, team_id, url, event, key_id, at, data, state, due_at)
      select state || days, 'w', 't', 'https://x', 'key.revoked', 'k', now() - days * interval '1 day', '{}', state,
        case state when 'pending' then now() end
      from unnest(array['pending', 'failed']) state, unnest(array[100, 31, 29, 2]) days`.execute(store().db);
    const left = async () =>
      (await store().db.selectFrom("webhook_deliveries").select("id").orderBy("id").execute()).map(({ id }) => id);
    await prune(store(), 90 * DAY);
    expect(await left()).toEqual(["failed2", "failed29", "failed31", "pending2", "pending29", "pending31"]);
    await prune(store(), 3_600_000);
    expect(await left()).toEqual(["pending2", "pending29"]);
  });

  test("of repeatable creations those of more than a day ago go", async () => {
    await sql`insert into idempotency_keys (caller, key, request, object_id, made_at) values
      ('c', 'old', 'r', 'o', now() - interval '25 hours'), ('c', 'new', 'r', 'o', now())`.execute(store().db);
    expect((await prune(store(), 90 * DAY)).creations).toBe(1);
    expect(await store().db.selectFrom("idempotency_keys").select("caller").execute()).toHaveLength(1);
  });

  test("b88: a server alone forgets it too, old changes among it", async () => {
    const prefix = unique("alone");
    await append(prefix, 100);
    await sql`insert into changes (seq, tx, kind, ref)
      select n, gen_random_uuid(), 'key', 'x' from generate_series(-5, -1) n`.execute(store().db);
    await sql`update feed set head = head + 100000`.execute(store().db);
    const end = startPeriodically({
      ...{ intervalMs: 2, onFailure: () => {} },
      run: (signal) => prune(store(), 90 * DAY, signal),
    });
    await until("it is forgotten", async () => {
      const old = await sql`select from changes where seq < 0`.execute(store().db);
      return old.rows.length === 0 && (await kinds(store(), prefix)).length === 0;
    });
    await end();
  });
});
