import { describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { createLog } from "../../../runtime/log.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { CountBuffer } from "../../../server/usage/count-buffer.ts";
import { REQUESTS, RequestCounter } from "../../../server/usage/request-counts.ts";
import type { Store } from "../../../store/database/store.ts";
import { readRequestCounts } from "../../../store/keys/uses/request-counts.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { NOW, unique } from "../../store/fixtures.ts";
import { indexedKey, keyRecord } from "../harness.ts";
import { awayStore } from "./away-store.ts";

const SLOT = 5 * 60_000;

/** A key as a decision finds it. */
function indexed(index: KeyIndex, keyId: string, teamId = "team-a"): KeyRecord {
  const digest = keyId.padEnd(32, "-");
  index.applyKey(keyId, [indexedKey(digest, keyRecord({ keyId, teamId }))]);
  const found = index.findKey(digest);
  if (found === undefined) throw new Error("a key that was added is not there");
  return found;
}

const countsIn = (counter: RequestCounter) =>
  Object.fromEntries([...counter.drain()].map(([name, { count }]) => [name, count]));

describe("Requests", () => {
  test("are counted by key, scope and five minutes, and each once", () => {
    const index = new KeyIndex();
    const [a, b] = [indexed(index, "key_a"), indexed(index, "key_b")];
    const counter = new RequestCounter();
    counter.count(a, "atoms.list", NOW);
    counter.count(a, "mcp.memory_search", NOW + SLOT - 1);
    counter.count(a, "mcp.connect", NOW);
    counter.count(a, "key.whoami", NOW);
    counter.count(b, "gateway.chat_completions", NOW);
    counter.count(a, "atoms.list", NOW + SLOT);
    counter.count(a, "atoms.list", NOW - 1);
    expect(countsIn(counter)).toEqual({
      [`key_a memory:read ${NOW}`]: 2,
      [`key_a memory:* ${NOW}`]: 1,
      [`key_b gateway:generate ${NOW}`]: 1,
      [`key_a memory:read ${NOW + SLOT}`]: 1,
      [`key_a memory:read ${NOW - SLOT}`]: 1,
    });
    expect(counter.drain().size).toBe(0);
  });

  test("of a key whose index was replaced meanwhile are the same key's", () => {
    const former = new KeyIndex();
    const counter = new RequestCounter();
    const before = indexed(former, "key_a");
    counter.count(before, "atoms.list", NOW);
    const index = new KeyIndex(0, former);
    counter.count(indexed(index, "key_b"), "atoms.list", NOW);
    counter.count(indexed(index, "key_a"), "atoms.list", NOW);
    counter.count(before, "atoms.list", NOW);
    expect(countsIn(counter)).toEqual({
      [`key_a memory:read ${NOW}`]: 3,
      [`key_b memory:read ${NOW}`]: 1,
    });
  });

  test("of more keys than are kept from one drain to the next are counted all the same", () => {
    const index = new KeyIndex();
    const keys = Array.from({ length: (1 << 12) + 1 }, (_, i) => indexed(index, `key_${i}`));
    const operations = ["atoms.list", "atoms.create", "gateway.chat_completions", "gateway.embeddings"] as const;
    const counter = new RequestCounter();
    for (let drain = 0; drain < 3; drain++) {
      for (const key of drain < 2 ? keys : keys.slice(0, 2)) {
        for (const operation of operations) counter.count(key, operation, NOW);
      }
      const counts = counter.drain();
      expect(counts.size).toBe(4 * (drain < 2 ? keys.length : 2));
      expect(counts.get(`key_1 memory:read ${NOW}`)?.count).toBe(1);
    }
  });

  test("b245: wait among those of their key's team", () => {
    const index = new KeyIndex();
    const counter = new RequestCounter();
    counter.count(indexed(index, "key_a"), "atoms.list", NOW);
    counter.count(indexed(index, "key_b", "team-b"), "atoms.list", NOW);
    expect([...counter.drain().values()].map(REQUESTS.teamOf)).toEqual(["team-a", "team-b"]);
  });

  test("of a placeholder key are not counted", () => {
    const counter = new RequestCounter();
    counter.count(keyRecord(), "atoms.list", NOW);
    expect(counter.drain().size).toBe(0);
  });
});

describeNightlyOnEachEngine("Counts that wait for the database", (store) => {
  const log = createLog("silent");
  const countsOf = (keyId: string, count = 1, teamId = "team-a") =>
    new Map([[`${keyId} memory:read ${NOW}`, { teamId, count }]]);
  const stored = async (keyId: string) =>
    (await readRequestCounts(store().db, keyId, 0)).reduce((sum, { count }) => sum + count, 0);

  /** The database, whose transactions end as the test says. */
  function failing(end: { mode: "well" | "before" | "after" }): Store {
    const { db } = store();
    const transaction = () => ({
      async execute<T>(body: Parameters<ReturnType<typeof db.transaction>["execute"]>[0]): Promise<T> {
        const result = (await db.transaction().execute(async (tx) => {
          const result = await body(tx);
          if (end.mode === "before") throw new Error("the connection broke before the commit");
          return result;
        })) as T;
        if (end.mode === "after") throw new Error("the connection broke after the commit");
        return result;
      },
    });
    const proxy = new Proxy(db, {
      get: (target, name) => {
        if (name === "transaction") return transaction;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return { ...store(), db: proxy, backgroundDb: proxy };
  }

  test.for(["before", "after"] as const)(
    "are written once where the connection breaks %s the commit, with what came since",
    async (mode) => {
      const keyId = unique("key");
      const end: { mode: "well" | "before" | "after" } = { mode };
      const buffer = new CountBuffer(REQUESTS, failing(end), log, () => {});
      buffer.add(countsOf(keyId, 3));
      await buffer.write();
      buffer.add(countsOf(keyId, 4));
      end.mode = "well";
      await buffer.write();
      expect(await stored(keyId)).toBe(7);
      await buffer.write();
      expect(await stored(keyId)).toBe(7);
    },
  );

  test("are kept where nothing could be begun", async () => {
    const keyId = unique("key");
    const away = awayStore(store());
    const buffer = new CountBuffer(REQUESTS, away.store, log, () => {});
    buffer.add(countsOf(keyId));
    await buffer.write();
    away.database.isAway = false;
    await buffer.write();
    expect(await stored(keyId)).toBe(1);
  });

  test("b245: are kept of one team however many another one has", async () => {
    const [busy, quiet] = [unique("busy"), unique("quiet")];
    const away = awayStore(store());
    const buffer = new CountBuffer({ ...REQUESTS, maxWaiting: 10 }, away.store, log, () => {});
    for (let place = 0; place < 20; place++) buffer.add(countsOf(`${busy}-${place}`));
    buffer.add(countsOf(quiet, 3, "team-b"));
    away.database.isAway = false;
    await buffer.write();
    expect(await stored(quiet)).toBe(3);
  });

  test("are written in slices, all of them", async () => {
    const stem = unique("many");
    const buffer = new CountBuffer(REQUESTS, store(), log, () => {});
    const names = Array.from({ length: 2_500 }, (_, i) => `${stem}-${i} memory:read ${NOW}`);
    buffer.add(new Map(names.map((name) => [name, { teamId: "team-a", count: 2 }])));
    await buffer.write();
    expect([await stored(`${stem}-0`), await stored(`${stem}-2499`)]).toEqual([2, 2]);
  });
});
