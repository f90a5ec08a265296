import { sql } from "kysely";
import { expect, test } from "vitest";
import { RefusalSampler } from "../../../server/auth/refusals.ts";
import type { RefusalEvent } from "../../../server/deps.ts";
import { createLog } from "../../../server/log.ts";
import { createMetrics } from "../../../server/metrics.ts";
import type { Store } from "../../../store/open.ts";
import { describeOnEachEngine } from "../../env/engines.ts";
import { NOW, unique } from "../../store/fixtures.ts";

const refusal = (cause: string): RefusalEvent => ({
  at: NOW,
  code: "unauthorized",
  cause,
  seq: 7,
  route: "/atoms",
  keyId: null,
  teamId: null,
});

function sampler(store: Store) {
  const metrics = createMetrics();
  const replica = unique("replica");
  const refusals = new RefusalSampler(store, metrics, createLog("silent"), replica);
  const lost = async (reason: string) => {
    const text = await metrics.registry.metrics();
    return Number(
      new RegExp(`^keyplane_audit_events_lost_total\\{reason="${reason}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0,
    );
  };
  const causes = async () => {
    const { rows } = await sql<{ reason: string; count: number }>`
      select detail->>'reason' as reason, count(*)::int as count from audit_events
      where actor = ${`replica:${replica}`} group by 1 order by 1`.execute(store.db);
    return rows;
  };
  return { refusals, lost, causes };
}

describeOnEachEngine("refusals in the audit log", (store) => {
  test("a flood of one cause is sampled, and hides no other", async () => {
    const { refusals, lost, causes } = sampler(store());
    for (let i = 0; i < 10_000; i++) refusals.record(refusal("unknown"));
    refusals.record(refusal("revoked"));
    await refusals.flush();
    expect(await causes()).toEqual([
      { reason: "revoked", count: 1 },
      { reason: "unknown", count: 20 },
    ]);
    expect(await lost("sampled")).toBe(9_980);
  });

  test("c44: while they cannot be written they are dropped and counted, and the next ones are written again", async () => {
    let down = true;
    const db = new Proxy(store().db, {
      get: (target, name) => {
        if (down) throw new Error("the disk is full");
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { refusals, lost, causes } = sampler({ ...store(), db });
    refusals.record(refusal("unknown"));
    await refusals.flush();
    down = false;
    expect(await lost("unwritten")).toBe(1);
    refusals.record(refusal("expired"));
    await refusals.flush();
    expect(await causes()).toEqual([{ reason: "expired", count: 1 }]);
  });
});
