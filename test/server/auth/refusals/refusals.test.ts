import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../../../processes/metrics.ts";
import { createLog } from "../../../../runtime/log.ts";
import type { RefusalEvent } from "../../../../server/auth/refusals/refusal-event.ts";
import { networkOf } from "../../../../server/auth/refusals/refusal-rows.ts";
import { MAX_REFUSAL_ROWS, RefusalSampler } from "../../../../server/auth/refusals/refusals.ts";
import { requestIdOf } from "../../../../server/http/request-id.ts";
import { appendRefusals, MAX_REFUSALS_PER_MINUTE } from "../../../../store/audit/refusals.ts";
import type { Store } from "../../../../store/database/store.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { unique } from "../../../store/fixtures.ts";

const RAW = new IncomingMessage(new Socket());
/** The beginning of the present minute: what the installation has room for goes by the database's clock. */
const NOW = Math.floor(Date.now() / 60_000) * 60_000;
const KINDS = ["missing", "malformed", "unknown", "revoked", "expired", "suspended", "jwt_expired", "binding", "scope"];

const refusal = (cause: string, more: Partial<RefusalEvent> & { ip?: string } = {}): RefusalEvent => ({
  client: { ip: more.ip ?? "198.51.100.7", raw: RAW },
  at: NOW,
  code: "unauthorized",
  cause,
  seq: 7,
  route: "/atoms",
  keyId: null,
  teamId: null,
  ...more,
});

function sampler(store: Store, threads = 1) {
  const metrics = createMetrics();
  const replica = unique("replica");
  const clock = { at: NOW, now: () => clock.at };
  const refusals = new RefusalSampler({ store, metrics, log: createLog("silent"), replica, clock, threads });
  const lost = async (reason: string) => {
    const text = await metrics.registry.metrics();
    return Number(
      new RegExp(`^keyplane_audit_events_lost_total\\{reason="${reason}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0,
    );
  };
  const written = async () => {
    const { rows } = await sql<{ reason: string; address: string; network: string; count: number }>`
      select detail->>'reason' as reason, detail->>'address' as address, detail->>'network' as network,
        (detail->>'count')::int as count
      from audit_events where actor = ${`replica:${replica}`} order by id`.execute(store.db);
    return rows;
  };
  return { refusals, lost, written, clock };
}

describeNightlyOnEachEngine("refusals in the audit log", (store) => {
  test("b88: refusals that are alike are one row a minute, which says from where and how many", async () => {
    const { refusals, lost, written, clock } = sampler(store());
    for (let i = 0; i < 10_000; i++) refusals.record(refusal("unknown", { ip: `198.51.100.${i % 200}` }));
    refusals.record(refusal("unknown", { ip: "2001:db8:1:2:3::4" }));
    await refusals.flush();
    const rows = [
      { reason: "unknown", address: "198.51.100.0", network: "198.51.100.0/24", count: 10_000 },
      { reason: "unknown", address: "2001:db8:1:2:3::4", network: "2001:db8:1:2::/64", count: 1 },
    ];
    expect(await written()).toEqual(rows);
    for (let i = 0; i < 500; i++) refusals.record(refusal("unknown", { ip: "198.51.100.9" }));
    await refusals.flush();
    expect(await written(), "its minute goes on").toEqual(rows);
    clock.at += 60_000;
    await refusals.flush();
    expect((await written()).map(({ count }) => count)).toEqual([10_500, 1]);
    expect(await lost("sampled")).toBe(0);
  });

  test("b479: a row's count has those too that come while the row is being written", async () => {
    const { refusals, lost, written, clock } = sampler(store());
    refusals.record(refusal("unknown"));
    const writing = refusals.flush();
    for (let i = 0; i < 99; i++) refusals.record(refusal("unknown"));
    await writing;
    clock.at += 60_000;
    await refusals.flush();
    expect((await written()).map(({ count }) => count)).toEqual([100]);
    expect(await lost("unwritten")).toBe(0);
  });

  test("b281: refusals of each key have a row of their own, also where all come from one network", async () => {
    const { refusals, lost } = sampler(store());
    const keys = Array.from({ length: 6 }, () => ({ keyId: unique("key"), teamId: unique("team") }));
    for (const [i, key] of keys.entries()) for (let n = 0; n <= i; n++) refusals.record(refusal("revoked", key));
    await refusals.close();
    const { rows } = await sql`select key_id as "keyId", team_id as "teamId", (detail->>'count')::int as count
      from audit_events where key_id = any(${keys.map(({ keyId }) => keyId)}) order by id`.execute(store().db);
    expect(rows).toEqual(keys.map((key, i) => ({ ...key, count: i + 1 })));
    expect(await lost("sampled")).toBe(0);
  });

  test("b281: a team with 100,000 keys hides neither another team's, nor another network, nor another cause", async () => {
    const { refusals, lost, written } = sampler(store());
    const teamId = unique("hostile");
    const other = { keyId: unique("key"), teamId: unique("team") };
    for (let i = 0; i < 100_000; i++) refusals.record(refusal("revoked", { keyId: `${teamId}-${i}`, teamId }));
    refusals.record(refusal("revoked", other));
    refusals.record(refusal("revoked", { ip: "203.0.113.9", keyId: `${teamId}-elsewhere`, teamId }));
    refusals.record(refusal("expired", other));
    await refusals.close();
    const rows = await written();
    expect(rows.length).toBeLessThanOrEqual(MAX_REFUSAL_ROWS / 3);
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(100_003);
    expect(await lost("sampled")).toBe(0);
    expect(rows.slice(-3)).toMatchObject([
      { reason: "revoked", address: "198.51.100.7", count: 1 },
      { reason: "revoked", address: "203.0.113.9", count: 1 },
      { reason: "expired", address: "198.51.100.7", count: 1 },
    ]);
  });

  test("a row names the first of its requests", async () => {
    const { refusals } = sampler(store());
    const keyId = unique("key");
    const [first, second] = [new IncomingMessage(new Socket()), new IncomingMessage(new Socket())];
    for (const raw of [first, second]) {
      refusals.record({ ...refusal("revoked", { keyId }), client: { ip: "198.51.100.7", raw } });
    }
    await refusals.flush();
    const { rows } = await sql<{ id: string }>`
      select detail->>'requestId' as id from audit_events where key_id = ${keyId}`.execute(store().db);
    expect(rows).toEqual([{ id: requestIdOf(first) }]);
  });

  test("a row of calls that wait for a limit of tokens says until when, also of those that came later in its minute", async () => {
    const { refusals } = sampler(store());
    const keyId = unique("key");
    const refuse = (cause: string, seconds?: number) =>
      refusals.record(refusal(cause, { keyId, until: seconds === undefined ? undefined : NOW + seconds * 1_000 }));
    const untils = async () => {
      const { rows } = await sql<{ until: string | null }>`
        select detail->>'until' as until from audit_events where key_id = ${keyId} order by id`.execute(store().db);
      return rows.map(({ until }) => until && (Date.parse(until) - NOW) / 1_000);
    };
    refuse("token_limited", 30);
    refuse("rate_limited");
    await refusals.flush();
    expect(await untils()).toEqual([30, null]);
    refuse("token_limited", 90);
    refuse("token_limited", 60);
    refuse("rate_limited");
    await refusals.close();
    expect(await untils()).toEqual([90, null]);
  });

  test("b88: a flood of nine kinds, from everywhere, adds a bounded number of rows, and hides no kind", async () => {
    const { refusals, lost, written } = sampler(store());
    for (let i = 0; i < 60_000; i++) {
      const cause = KINDS[i % KINDS.length] ?? "";
      refusals.record(refusal(cause, { ip: `10.${i % 251}.${i % 241}.1`, route: i % 2 === 0 ? "/atoms" : "/g/*" }));
      if (i % 1_000 === 0) await refusals.flush();
    }
    refusals.record(refusal("another kind"));
    await refusals.close();
    const rows = await written();
    expect(rows.length).toBeLessThanOrEqual(MAX_REFUSAL_ROWS);
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set([...KINDS, "another kind"]));
    const counted = rows.reduce((sum, { count }) => sum + count, 0);
    expect(counted + (await lost("sampled"))).toBe(60_001);
  });

  test("b88: the threads of a process share its rows", async () => {
    const { refusals, written } = sampler(store(), 4);
    for (let i = 0; i < 600; i++) refusals.record(refusal(KINDS[i % 9] ?? "", { ip: `10.0.${i % 256}.1` }));
    await refusals.close();
    expect((await written()).length).toBeLessThanOrEqual(MAX_REFUSAL_ROWS / 4);
  });

  test("b88: what the installation has no room for is counted, and not written", async () => {
    const entry = { at: Date.now(), keyId: null, teamId: null, actor: unique("others"), detail: {} };
    const others = Array.from({ length: MAX_REFUSALS_PER_MINUTE }, () => entry);
    // As many replicas at once as it takes.
    const ids = await Promise.all([appendRefusals(store(), others), appendRefusals(store(), others)]);
    expect(ids.flat().filter((id) => id !== null).length).toBeLessThanOrEqual(MAX_REFUSALS_PER_MINUTE);
    const { refusals, lost, written } = sampler(store());
    for (let i = 0; i < 10; i++) refusals.record(refusal("unknown"));
    await refusals.flush();
    for (let i = 0; i < 5; i++) refusals.record(refusal("unknown"));
    await refusals.close();
    expect([await written(), await lost("limited")]).toEqual([[], 15]);
    await store().db.deleteFrom("audit_events").where("actor", "=", entry.actor).execute();
  });

  test("b88: the address of a refusal is not asked for where there is no room for it", () => {
    const { refusals } = sampler(store());
    let asked = 0;
    const client = {
      get ip() {
        asked++;
        return `10.0.${asked % 256}.1`;
      },
      raw: RAW,
    };
    for (let i = 0; i < 1_000; i++) refusals.record({ ...refusal("unknown"), client, route: `/${i}` });
    expect(asked).toBeLessThanOrEqual(MAX_REFUSAL_ROWS);
  });

  test("c44: refusals that cannot be written are dropped and counted, and the next ones are written again", async () => {
    let down = true;
    const db = new Proxy(store().db, {
      get: (target, name) => {
        if (down) throw new Error("the disk is full");
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { refusals, lost, written } = sampler({ ...store(), db });
    refusals.record(refusal("unknown"));
    await refusals.flush();
    refusals.record(refusal("unknown"));
    down = false;
    expect(await lost("unwritten")).toBe(1);
    refusals.record(refusal("expired"));
    await refusals.close();
    expect((await written()).map(({ reason, count }) => [reason, count])).toEqual([["expired", 1]]);
    expect(await lost("unwritten")).toBe(2);
  });
});

describe("the network of a client", () => {
  test.each([
    ["203.0.113.9", "203.0.113.0/24"],
    ["::ffff:203.0.113.9", "203.0.113.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["64:ff9b::203.0.113.9", "64:ff9b:0:0::/64"],
  ])("%s is in %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
