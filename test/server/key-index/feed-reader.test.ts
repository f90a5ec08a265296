/** What a replica does with each answer of its feed, one at a time: the model of revocation plays them in every order. */
import { expect, test } from "vitest";
import { createLog } from "../../../runtime/log.ts";
import type { Feed } from "../../../server/key-index/feed.ts";
import { FeedReader } from "../../../server/key-index/feed-reader.ts";
import { Lease } from "../../../server/key-index/lease.ts";
import { ServedState } from "../../../server/key-index/served-state.ts";
import { sharedCells } from "../../../server/key-index/shared-cells.ts";
import { keyring, shiftableClock } from "./replica-fixtures.ts";
import { digestOfKey, SimDatabase } from "./simulation/database.ts";

/** A reader of a database, and each moment at which something was applied: the key's revision then, and what counted as read. */
function open() {
  const database = new SimDatabase({ now: 0 });
  const change = () => database.commit("key", (key) => ({ revision: (key?.revision ?? 0) + 1, revoked: false }));
  let [rollbacks, madeGood] = [0, 0];
  const feed: Feed = {
    register: async () => {},
    deregister: async () => {},
    heartbeat: async (id, last) => database.heartbeat(id, last),
    changesAfter: async (seq, limit) => database.changesAfter(seq, limit),
    snapshot: async (receive) => database.snapshot(receive),
    makeGood: async () => void madeGood++,
    replicas: { read: async (seq) => database.readReplicas(seq), remove: async () => {} },
    listen: async () => ({ ping: async () => {}, close: async () => {} }),
  };
  const cells = sharedCells();
  const log = createLog("silent");
  const state = new ServedState({ keyring, placeholders: [], log }, Lease.begin(shiftableClock(), cells.lease), cells);
  const revision = () => state.findKey(digestOfKey("key"))?.scopes;
  const applied: (readonly [revision: number | undefined, read: number | undefined])[] = [];
  const reader: FeedReader = new FeedReader({
    ...{ feed, log, state, cells, metrics: { countRollback: () => void rollbacks++ } },
    onApplied: () => applied.push([revision(), reader.last?.seq]),
  });
  const catchUp = async () => reader.catchUp(reader.last ?? (await reader.load()), 60_000);
  return { database, change, reader, revision, applied, catchUp, noted: () => ({ rollbacks, madeGood }) };
}

test("b24: what is open is judged anew as a snapshot or a change is applied, before the change counts as read", async () => {
  const { change, reader, applied, catchUp } = open();
  change();
  await reader.load();
  expect(applied).toEqual([[1, 1]]);
  change();
  expect((await catchUp()).seq).toBe(2);
  expect(applied).toEqual([
    [1, 1],
    [2, 1],
  ]);
  await catchUp();
  expect(applied).toHaveLength(2);
});

test("everything is read anew of a database that was rolled back, also where it has as many changes again", async () => {
  const { database, change, reader, revision, catchUp, noted } = open();
  for (let n = 0; n < 3; n++) change();
  await reader.load();
  expect(revision()).toBe(3);
  database.rollBack(2);
  change();
  change();
  change();
  const last = await catchUp();
  expect([last, revision()]).toEqual([{ seq: 4, id: "change-6" }, 4]);
  expect(noted()).toEqual({ rollbacks: 1, madeGood: 1 });
});

test("everything is read anew where changes were pruned that are lacking, and nothing is made good", async () => {
  const { database, change, reader, revision, catchUp, noted } = open();
  change();
  await reader.load();
  for (let n = 0; n < 3; n++) change();
  database.prune(2);
  expect([(await catchUp()).seq, revision()]).toEqual([4, 4]);
  expect(noted()).toEqual({ rollbacks: 0, madeGood: 0 });
});
