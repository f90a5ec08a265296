/** What garbage collection asks of a cluster and does with the answers, for every kind that outlives its declaration. */
import { sql } from "kysely";
import { expect, type TestContext, test } from "vitest";
import type { Cluster, ObjectRef } from "../../controller/cluster/port.ts";
import { createGarbageCollector, GARBAGE_COLLECTION_INTERVAL_MS } from "../../controller/garbage-collection.ts";
import { createKeyChanges } from "../../controller/key/key-changes.ts";
import type { KeyDeps } from "../../controller/key/key-deps.ts";
import { newKeyMemory } from "../../controller/key/key-memory.ts";
import { ANSWERS_APART_MS, type Presence } from "../../domain/garbage-collection.ts";
import { KINDS, type Kind, type Spec } from "../../domain/kinds/kinds.ts";
import type { Db } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { saveGateway } from "../../store/gateways/gateways.ts";
import { recordKeyDeclaration } from "../../store/keys/rows/key-declarations.ts";
import { saveLibrary } from "../../store/libraries/libraries.ts";
import { describeNightlyOnEachEngine } from "../env/database/engines.ts";
import { until } from "../env/until.ts";
import { gatewayDraft, libraryDraft, makeTeam, reserveKey, run, unique } from "../store/fixtures.ts";

const keyring = parseKeyring(Buffer.alloc(32, 7).toString("base64"));
const TABLES = { PlatformKey: "keys", ModelGateway: "gateways", MemoryLibrary: "libraries", PlatformTeam: "teams" };

/** A cluster of its own in the store: a team with a key, a gateway and a library, of which the cluster lists none. */
async function sweeping(store: Store, { isOld = true, listed = null as readonly string[] | null } = {}) {
  const home = await makeTeam(store, { cluster: unique("cluster") });
  const { cluster } = home;
  await reserveKey(store, home);
  await run(store, (tx) => saveLibrary(tx, libraryDraft(home, { deletionPolicy: "Delete" })));
  await run(store, (tx) => saveGateway(tx, gatewayDraft(home), keyring));
  if (isOld) {
    for (const table of Object.values(TABLES)) {
      await sql`update ${sql.table(table)} set created_at = created_at - interval '1 hour'
        where cluster = ${cluster}`.execute(store.db);
    }
  }
  const asked: string[] = [];
  const lines: string[] = [];
  const paused = new Set<Kind>();
  const keyMemory = newKeyMemory();
  const world = {
    says: (_ref: ObjectRef, _uid: string): Presence | Promise<Presence> => "gone",
    uids: (_kind: Kind): string[] => [],
    list: (_kind: Kind): { uid: string }[] => [],
    now: 0,
  };
  const fake = {
    uid: cluster,
    listedNamespaces: () => listed,
    uids: (kind: Kind) => world.uids(kind),
    list: (kind: Kind) => world.list(kind),
    async lookUp(ref: ObjectRef, uid: string) {
      asked.push(ref.kind);
      return world.says(ref, uid);
    },
  };
  const deps = {
    cluster: fake as unknown as Cluster,
    store,
    fence: null,
    keyMemory,
    keyChanges: createKeyChanges(store, null),
    clock: { now: () => Date.now() },
    log: (_level: string, line: string) => lines.push(line),
    onCollected: (kind: Kind, isPaused: boolean) => (isPaused ? paused.add(kind) : paused.delete(kind)),
  } as unknown as KeyDeps;
  const look = createGarbageCollector(deps, () => world.now, new AbortController().signal);

  /** How many of each kind are in service and declared. */
  async function living(): Promise<Record<string, number>> {
    const { rows } = await sql<Record<string, number>>`
      select (select count(*)::int from keys where cluster = ${cluster} and state <> 'revoked') as "PlatformKey",
        (select count(*)::int from gateways where cluster = ${cluster} and owner_uid is not null) as "ModelGateway",
        (select count(*)::int from libraries where cluster = ${cluster} and owner_uid is not null) as "MemoryLibrary",
        (select count(*)::int from teams where cluster = ${cluster} and owner_uid is not null) as "PlatformTeam"`.execute(
      store.db,
    );
    return rows[0] ?? {};
  }
  return { ...world, world, look, living, asked, lines, paused, keyMemory, home };
}

async function age(store: Store, cluster: string): Promise<void> {
  await sql`update keys set created_at = created_at - interval '1 hour' where cluster = ${cluster}`.execute(store.db);
}

/** Has the database refuse whatever ends the key. */
async function refuseToEnd({ db }: Store, id: string, { onTestFinished }: TestContext): Promise<void> {
  await sql`create trigger refuses_its_end before update of state on keys
    for each row when (old.id = ${sql.lit(id)}) execute function refuse_revival()`.execute(db);
  onTestFinished(async () => void (await sql`drop trigger refuses_its_end on keys`.execute(db)));
}

/** Counts the transactions that are open at once. */
function counting(db: Db, count: { open: number; most: number }): Db {
  const execute: ReturnType<Db["transaction"]>["execute"] = async (body) => {
    count.most = Math.max(count.most, ++count.open);
    return db
      .transaction()
      .execute(body)
      .finally(() => count.open--);
  };
  return new Proxy(db, {
    get(target, name) {
      if (name === "transaction") return () => ({ execute });
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Of a PlatformKeyPolicy nothing is stored. */
const STORED = KINDS.filter((kind) => kind !== "PlatformKeyPolicy");
const each = (count: number) => Object.fromEntries(STORED.map((kind) => [kind, count]));

describeNightlyOnEachEngine("Garbage collection", (store) => {
  test("c48: ends each kind at the second look that says it is gone, 20 s after the first, and none before", async () => {
    const { world, look, living, asked, lines } = await sweeping(store());
    await look();
    expect([asked.toSorted(), await living()]).toEqual([[...STORED].sort(), each(1)]);
    world.now = ANSWERS_APART_MS - 1;
    await look();
    expect(await living()).toEqual(each(1));
    world.now = ANSWERS_APART_MS;
    await look();
    expect(await living()).toEqual(each(0));
    expect(lines).toHaveLength(4);
    await look();
    expect(asked).toHaveLength(12);
  });

  test("c111: releases a key whose recorded declaration has Retain, and revokes one that was declared so before", async () => {
    const { world, look, lines, home } = await sweeping(store());
    const keys = await Promise.all([reserveKey(store(), home), reserveKey(store(), home)]);
    const [kept, turned] = keys.map(({ key }) => key);
    const record = (key: typeof kept, deletionPolicy: "Retain" | "Revoke", generation: number) => {
      if (key === undefined) return expect.fail("it was not made");
      const spec = { displayName: "key", preset: "MCPReadOnly", deletionPolicy } as unknown as Spec<"PlatformKey">;
      return recordKeyDeclaration(store().db, key.id, { ownerUid: key.ownerUid ?? "", generation, spec, labels: {} });
    };
    await record(kept, "Retain", 1);
    await record(turned, "Retain", 1);
    await record(turned, "Revoke", 2);
    await age(store(), home.cluster);
    for (const at of [0, ANSWERS_APART_MS]) {
      world.now = at;
      await look();
    }
    const { rows } = await sql<{ id: string; state: string; owner_uid: string | null }>`
      select id, state, owner_uid from keys where id in (${kept?.id}, ${turned?.id})`.execute(store().db);
    expect(rows.find(({ id }) => id === kept?.id)).toMatchObject({ owner_uid: null });
    expect(rows.find(({ id }) => id === kept?.id)?.state).not.toBe("revoked");
    expect(rows.find(({ id }) => id === turned?.id)?.state).toBe("revoked");
    expect(lines.filter((line) => line.includes("released key"))).toEqual([
      `released key ${kept?.id}, which works on (Retain), of PlatformKey ${kept?.namespace}/${kept?.name}, whose declaration is gone`,
    ]);
  });

  test.each([
    ["revokes a key with Retain whose namespace another team has got", "moved", "revoked"],
    ["revokes a key with Retain whose team has given up the namespace", "given up", "revoked"],
    ["lets a key with Retain work on whose team is deleted", "deleted", "active"],
  ])("b448: %s", async (_title, change, state) => {
    const { world, look, home } = await sweeping(store());
    const { key } = await reserveKey(store(), home);
    const spec = { preset: "MCPReadOnly", deletionPolicy: "Retain" } as unknown as Spec<"PlatformKey">;
    await recordKeyDeclaration(store().db, key.id, { ownerUid: key.ownerUid ?? "", generation: 1, spec, labels: {} });
    await age(store(), home.cluster);
    const held = sql`cluster = ${home.cluster} and namespace = ${home.namespace}`;
    const other = await makeTeam(store(), { cluster: home.cluster });
    if (change === "moved")
      await sql`update team_namespaces set team_id = ${other.teamId} where ${held}`.execute(store().db);
    else await sql`delete from team_namespaces where ${held}`.execute(store().db);
    if (change === "deleted")
      await sql`update teams set state = 'deleted' where id = ${home.teamId}`.execute(store().db);
    for (const at of [0, ANSWERS_APART_MS]) {
      world.now = at;
      await look();
    }
    const { rows } = await sql<{ state: string }>`select state from keys where id = ${key.id}`.execute(store().db);
    expect(rows).toEqual([{ state }]);
  });

  test("c48: its looks are far enough apart, and two of them come within a minute", () => {
    expect(GARBAGE_COLLECTION_INTERVAL_MS).toBeGreaterThan(ANSWERS_APART_MS);
    expect(2 * GARBAGE_COLLECTION_INTERVAL_MS).toBeLessThan(45_000);
  });

  test.each<Presence>(["unknown", "present"])(
    "c48: ends none of what is %s, however often it looks",
    async (presence) => {
      const { world, look, living } = await sweeping(store());
      world.says = () => presence;
      for (let i = 0; i < 4; i++) {
        await look();
        world.now += ANSWERS_APART_MS;
      }
      expect(await living()).toEqual(each(1));
    },
  );

  test("c48: asks for the object by the uid that owns the row, in its namespace", async () => {
    const { world, look, home } = await sweeping(store());
    const named: [Kind, string, boolean][] = [];
    world.says = ({ kind, namespace, name }, uid) => {
      named.push([kind, namespace, name.length > 0 && uid.length > 0]);
      return "unknown";
    };
    await look();
    expect(named.toSorted()).toEqual(
      STORED.map((kind) => [kind, kind === "PlatformTeam" ? "" : home.namespace, true]).toSorted(),
    );
  });

  test("c13: asks for nothing that is younger than its list, and in no namespace that it has no list of", async () => {
    const young = await sweeping(store(), { isOld: false });
    await young.look();
    expect(young.asked).toEqual([]);
    const unlisted = await sweeping(store(), { listed: ["elsewhere"] });
    await unlisted.look();
    expect(unlisted.asked, "a team has no namespace").toEqual(["PlatformTeam"]);
  });

  test("c13: of many that are gone each ends at its own second answer, whatever the last is waited for", async () => {
    const { world, look, living, home, asked } = await sweeping(store());
    for (let i = 0; i < 4; i++) await reserveKey(store(), home);
    await age(store(), home.cluster);
    await look();
    world.now = ANSWERS_APART_MS;
    const last = Promise.withResolvers<Presence>();
    const before = asked.length;
    world.says = () => (asked.length === before + 5 ? last.promise : "gone");
    const looking = look();
    await until("all but the last have ended", async () => (await living()).PlatformKey === 1);
    last.resolve("gone");
    await looking;
    expect(await living()).toEqual(each(0));
  });

  test("c48: asks for nothing that is listed", async () => {
    const { world, look, asked, home } = await sweeping(store());
    world.uids = (kind) => (kind === "PlatformTeam" ? [home.ownerUid] : []);
    await look();
    expect(asked).not.toContain("PlatformTeam");
    expect(asked).toHaveLength(3);
  });

  test("c48: a secret that waits to be delivered is kept while its declaration is in doubt, and forgotten when it is gone", async () => {
    const { world, look, keyMemory } = await sweeping(store());
    const held = { plaintext: "inf_held", digest: "digest" };
    for (const uid of ["listed", "doubted", "gone"]) keyMemory.held.set(uid, held);
    world.uids = () => ["listed"];
    world.list = () => [{ uid: "doubted" }];
    await look();
    expect([...keyMemory.held.keys()]).toEqual(["listed", "doubted"]);
  });

  test("c13: pauses for a kind of which too many have gone, says so, and asks for few of them", async () => {
    const { world, look, living, asked, lines, paused, home } = await sweeping(store());
    for (let i = 0; i < 11; i++) await reserveKey(store(), home);
    await age(store(), home.cluster);
    for (let i = 0; i < 3; i++) {
      await look();
      world.now += ANSWERS_APART_MS;
    }
    expect(await living()).toEqual({ ...each(0), PlatformKey: 12 });
    expect(lines.filter((line) => line.startsWith("garbage collection is paused: too many PlatformKey"))).toHaveLength(
      2,
    );
    expect(asked.filter((kind) => kind === "PlatformKey")).toHaveLength(30);
    expect([...paused]).toEqual(["PlatformKey"]);
    world.says = () => "present";
    await look();
    expect([...paused]).toEqual([]);
  });

  test("c48: does not say that too many have gone where one of them is there: the list was wrong", async () => {
    const { world, look, lines, home } = await sweeping(store());
    for (let i = 0; i < 11; i++) await reserveKey(store(), home);
    await age(store(), home.cluster);
    world.says = () => "unknown";
    await look();
    let found = 0;
    world.says = () => (found++ === 0 ? "present" : "gone");
    world.now += ANSWERS_APART_MS;
    await look();
    expect(lines).toEqual([]);
  });

  test("c48: asks for all of a kind at once, so that one without an answer holds up no other", async () => {
    const { world, look, asked, home } = await sweeping(store());
    await reserveKey(store(), home);
    await age(store(), home.cluster);
    const { promise, resolve } = Promise.withResolvers<Presence>();
    world.says = ({ kind }) => {
      if (asked.filter((one) => one === "PlatformKey").length === 2) resolve("unknown");
      return kind === "PlatformKey" ? promise : "unknown";
    };
    await look();
    expect(asked).toHaveLength(5);
  });

  test("c48: what is found to be there is no suspect any more, although another could not be ended at that look", async (context) => {
    const { world, look, living, home } = await sweeping(store());
    const stuck = await reserveKey(store(), home);
    await age(store(), home.cluster);
    await refuseToEnd(store(), stuck.key.id, context);
    let there = false;
    world.says = ({ kind, name }) => (there && kind === "PlatformKey" && name !== stuck.key.name ? "present" : "gone");
    await look();
    world.now = ANSWERS_APART_MS;
    there = true;
    await expect(look()).rejects.toThrow("is final");
    world.now += ANSWERS_APART_MS;
    there = false;
    await expect(look()).rejects.toThrow("is final");
    expect((await living()).PlatformKey).toBe(2);
  });

  test("c23: what cannot be ended holds up nothing else", async (context) => {
    const { world, look, living, home } = await sweeping(store());
    const stuck = await reserveKey(store(), home);
    await age(store(), home.cluster);
    await refuseToEnd(store(), stuck.key.id, context);
    await look();
    world.now = ANSWERS_APART_MS;
    await expect(look()).rejects.toThrow("is final");
    expect(await living()).toEqual({ ...each(0), PlatformKey: 1 });
  });

  test("c13: of many that end it ends one after the other, so that others have the database in between", async () => {
    const transactions = { open: 0, most: 0 };
    const { world, look, living, home } = await sweeping({ ...store(), db: counting(store().db, transactions) });
    for (let i = 0; i < 4; i++) await reserveKey(store(), home);
    await age(store(), home.cluster);
    await look();
    world.now = ANSWERS_APART_MS;
    transactions.most = 0;
    await look();
    expect([await living(), transactions.most]).toEqual([each(0), 1]);
  });

  test("c71: keys of which the cluster says at once that they are gone end in one transaction, but for one that cannot", async (context) => {
    const { world, look, living, home, lines } = await sweeping(store());
    const keys = await Promise.all(Array.from({ length: 9 }, () => reserveKey(store(), home)));
    await age(store(), home.cluster);
    await look();
    world.now = ANSWERS_APART_MS;
    await look();
    const ids = keys.map(({ key }) => key.id);
    expect([await living(), lines.filter((line) => line.startsWith("revoked the key of"))]).toEqual([
      each(0),
      expect.objectContaining({ length: 10 }),
    ]);
    expect(await transactionsOf(store(), ids)).toBe(1);
    const others = await Promise.all(Array.from({ length: 8 }, () => reserveKey(store(), home)));
    await age(store(), home.cluster);
    await refuseToEnd(store(), others[3]?.key.id ?? "", context);
    await look();
    world.now += ANSWERS_APART_MS;
    await expect(look()).rejects.toThrow("is final");
    expect((await living()).PlatformKey).toBe(1);
  });
});

/** How many transactions have ended these keys. */
async function transactionsOf({ db }: Store, keyIds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(distinct changed_tx)::int as count from key_versions
    where key_id = any(${keyIds}::text[]) and state = 'revoked'`.execute(db);
  return rows[0]?.count ?? 0;
}
