import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { LEASE_MS } from "../../../domain/protocol.ts";
import { createMetrics } from "../../../processes/metrics.ts";
import { createLog } from "../../../runtime/log.ts";
import { StreamRegistry } from "../../../server/calls/open-streams.ts";
import type { Feed } from "../../../server/key-index/feed.ts";
import { Replica } from "../../../server/key-index/replica.ts";
import { until } from "../../env/until.ts";
import { keyring, shiftableClock } from "./replica-fixtures.ts";
import { SimDatabase } from "./simulation/database.ts";

const FLOOD_MS = 300;

test.for([
  { replicas: 3, readMs: 5, acknowledgedMs: 15 },
  { replicas: 100, readMs: 40, acknowledgedMs: 40 },
])(
  "a flood of changes is read and acknowledged many at a time, to the last of them, by each of $replicas replicas",
  async ({ replicas, readMs, acknowledgedMs }, context) => {
    const database = new SimDatabase({ now: 0 });
    database.countedReplicas = replicas;
    const asked = { changes: 0, heartbeats: 0 };
    let hint = () => {};
    const feed: Feed = {
      register: async (id, leaseMs) => database.register(id, leaseMs),
      deregister: async (id) => database.deregister(id),
      heartbeat: async (id, last) => {
        asked.heartbeats++;
        return database.heartbeat(id, last);
      },
      changesAfter: async (seq, limit) => {
        asked.changes++;
        return database.changesAfter(seq, limit);
      },
      makeGood: async () => {},
      snapshot: async (receive) => database.snapshot(receive),
      replicas: { read: async (seq) => database.readReplicas(seq), remove: async () => {} },
      listen: async (onHint) => {
        hint = onHint;
        return { ping: async () => {}, close: async () => {} };
      },
    };
    const replica = new Replica({
      ...{ id: "r", feed, keyring, clock: shiftableClock(), log: createLog("silent"), metrics: createMetrics() },
      ...{ streams: new StreamRegistry(() => {}), placeholders: [], leaseMs: LEASE_MS },
    });
    replica.start();
    context.onTestFinished(() => replica.close());
    await until("the index is current", () => replica.view.isCurrent());

    const from = performance.now();
    while (performance.now() - from < FLOOD_MS) {
      database.commit("key", (key) => ({ revision: (key?.revision ?? 0) + 1, revoked: false }));
      hint();
      // Fewer than one reading takes at most, however fast this machine is.
      await delay(1);
    }
    await until("all is acknowledged", () => database.readReplicas(0).replicas[0]?.ackedSeq === database.head);
    const took = performance.now() - from;
    expect(database.head).toBeGreaterThan(asked.changes);
    expect(asked.changes).toBeLessThan(took / readMs);
    expect(asked.heartbeats).toBeLessThan(took / acknowledgedMs);
  },
);
