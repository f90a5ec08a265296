import { sql } from "kysely";
import { afterEach, expect, type TestContext, test } from "vitest";
import { unusableBecause } from "../../../domain/access/key-state.ts";
import { keyDigest } from "../../../domain/key/secret/key-format.ts";
import { LEASE_MS } from "../../../domain/protocol.ts";
import { parsePlaceholders } from "../../../server/context/placeholders.ts";
import { change } from "../../../store/database/change.ts";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { CHANGES_CHANNEL } from "../../../store/feed/change-feed.ts";
import { readKnownUsage } from "../../../store/keys/uses/usage.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { readReplicas } from "../../../store/replicas/replicas.ts";
import { findSession } from "../../../store/sessions/sessions.ts";
import { revokeSubject } from "../../../store/teams/revoked-subjects.ts";
import { deleteTeam } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine, freshDatabase } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { HOUR, libraryDraft, makeTeam, NOW, policyOf, reserveKey, run } from "../../store/fixtures.ts";
import { feedHead } from "../../store/questions.ts";
import { signIn } from "../auth/session/sign-in.ts";
import { startRelay } from "./relay.ts";
import { startReplica, storeKey } from "./replica-fixtures.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function follow(...args: Parameters<typeof startReplica>) {
  const started = startReplica(...args);
  closing.push(() => started.replica.close());
  return started;
}

async function metric(metrics: ReturnType<typeof startReplica>["metrics"], name: string): Promise<number> {
  const text = await metrics.registry.metrics();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1]);
}

describeNightlyOnEachEngine("a replica's index", (store) => {
  test("b28: a reserved key is found, by every replica that has acknowledged its reservation", async () => {
    const home = await makeTeam(store());
    const { view } = follow(store());
    await until("the index is current", () => view.isCurrent());
    const { digest } = await reserveKey(store(), home);
    const head = await feedHead(store());
    await until("the reservation is confirmed", async () =>
      (await readReplicas(store(), 0)).replicas.every(({ ackedSeq }) => ackedSeq >= head),
    );
    expect(view.findKey(digest)).toMatchObject({ versionState: "reserved", teamId: home.teamId });
  });

  test("b22: a revocation reaches the index without a lapse of the lease, and the record stays for its cause", async () => {
    const home = await makeTeam(store());
    const key = await storeKey(store(), home);
    const { view } = follow(store());
    await until("the key is there", () => view.findKey(key.digest)?.versionState === "active");
    await key.revoke();
    const record = await until("the key is revoked", () => {
      const found = view.findKey(key.digest);
      return found?.state === "revoked" ? found : undefined;
    });
    expect(unusableBecause(record, Date.now())).toBe("revoked");
  });

  test("b25: deleting the team, not the key, ends its keys all the same", async () => {
    const home = await makeTeam(store());
    const key = await storeKey(store(), home);
    const { view } = follow(store());
    await until("the key is there", () => view.findKey(key.digest));
    await run(store(), (tx) => deleteTeam(tx, home));
    await until("the key is unusable", () => {
      const record = view.findKey(key.digest);
      return record !== undefined && unusableBecause(record, Date.now()) !== undefined;
    });
  });

  test("b106: a member who is removed, by their role or with their team, reaches the index like a revocation", async () => {
    const bearer = {
      actor: "i#ann",
      names: new Set(["subject ann", "group leads"]),
      scopes: 0,
      issuedAt: 0,
      expiresAt: HOUR,
    };
    const members = [{ role: "member", kind: "subject", value: "ann" }] as const;
    const [home, other] = [await makeTeam(store(), { members }), await makeTeam(store(), { members })];
    const { view } = follow(store());
    await until("both teams are there", () => view.findMember(bearer, null).length === 2);
    const [record] = view.findMember(bearer, home.name);
    if (record === undefined) throw new Error("the member is not found");
    expect(view.findPresent(record)).toBe(record);
    await run(store(), (tx) => revokeSubject(tx, { teamId: home.teamId, subject: "ann", by: { actor: "a test" } }));
    await until("the tokens are revoked", () => view.findPresent(record)?.state === "revoked");
    await makeTeam(store(), { ...home, members: [{ role: "viewer", kind: "group", value: "staff" }], generation: 2 });
    await until("the member is not", () => view.findPresent(record) === undefined);
    expect(view.findMember(bearer, home.teamId)).toEqual([]);
    await run(store(), (tx) => deleteTeam(tx, other));
    await until("nor is one of the team that was deleted", () => view.findMember(bearer, null).length === 0);
  });

  test("b106: the libraries of a member reach the index as they are narrowed, and as they come", async () => {
    const bearer = { actor: "i#ann", names: new Set(["subject ann"]), scopes: 0, issuedAt: 0, expiresAt: HOUR };
    const member = { role: "member", kind: "subject", value: "ann" } as const;
    const home = await makeTeam(store(), { members: [member] });
    const { view } = follow(store());
    const reach = () => view.findMember(bearer, home.teamId)[0]?.libraryIds;
    await until("the member is there", () => reach() === null);
    const libraryRefs = [{ namespace: home.namespace, name: "diary" }];
    await makeTeam(store(), { ...home, members: [{ ...member, libraryRefs }], generation: 2 });
    await until("the member is narrowed", () => reach()?.length === 0);
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(home, { name: "diary" })));
    await until("the library is theirs", () => reach()?.[0] === libraryId);
  });

  test("b30: an older or made-up notification changes nothing", async () => {
    const home = await makeTeam(store());
    const key = await storeKey(store(), home);
    const { view } = follow(store());
    await until("the key is there", () => view.findKey(key.digest));
    await key.revoke();
    await until("the key is revoked", () => view.findKey(key.digest)?.state === "revoked");
    const seq = view.lastSeq();
    for (const payload of ["1", "", "999999999", "{}"]) {
      await sql`select pg_notify(${CHANGES_CHANNEL}, ${payload})`.execute(store().db);
    }
    const other = await storeKey(store(), home);
    await until("a later change is seen", () => view.findKey(other.digest));
    expect(view.lastSeq()).toBeGreaterThan(seq);
    expect(view.findKey(key.digest)?.state).toBe("revoked");
  });

  test("b30: a row that is set back to active in the database does not revive what this replica knows as ended", async () => {
    const home = await makeTeam(store());
    const key = await storeKey(store(), home);
    const { view } = follow(store());
    await until("the key is there", () => view.findKey(key.digest));
    await key.revoke();
    await until("the key is revoked", () => view.findKey(key.digest)?.state === "revoked");
    await change(store(), null, async (tx) => {
      await sql`update keys set state = 'active', revocation_reason = null, revoked_at = null where id = ${key.keyId}`.execute(
        tx,
      );
      await sql`update key_versions set state = 'active' where key_id = ${key.keyId}`.execute(tx);
    }).catch(() => {
      // The store refuses it by itself: all the better.
    });
    const other = await storeKey(store(), home);
    await until("a later change is seen", () => view.findKey(other.digest));
    const record = view.findKey(key.digest);
    expect(record !== undefined && unusableBecause(record, Date.now())).toBe("revoked");
  });

  test("b31: a key that is made again by the same name has a new secret, and the old one stays refused", async () => {
    const home = await makeTeam(store());
    const old = await storeKey(store(), home, { key: { name: "again" } });
    const { view } = follow(store());
    await until("the old key is there", () => view.findKey(old.digest));
    await old.revoke();
    const next = await storeKey(store(), home, { key: { name: "again" } });
    await until("the new key works", () => view.findKey(next.digest)?.versionState === "active");
    const causeOf = (digest: string) => {
      const record = view.findKey(digest);
      return record === undefined ? "unknown" : unusableBecause(record, Date.now());
    };
    expect([causeOf(old.digest), causeOf(next.digest)]).toEqual(["revoked", undefined]);
    const restarted = follow(store());
    await until("a new replica is current", () => restarted.view.isCurrent());
    expect(restarted.view.findKey(old.digest)).toBeUndefined();
  });

  test("the lease runs out on the monotonic clock, and the next beat renews it", async () => {
    const { view, clock } = follow(store());
    await until("the index is current", () => view.isCurrent());
    clock.steady += LEASE_MS;
    clock.wall += LEASE_MS;
    expect(view.isCurrent()).toBe(false);
    await until("the index is current again", () => view.isCurrent());
  });

  test("b29: a wall clock that jumps ends the lease at once, and neither revives nor ends a key", async () => {
    const home = await makeTeam(store());
    const dead = await storeKey(store(), home, { expiresAfter: Date.now() - 1_000 - NOW });
    const alive = await storeKey(store(), home, { expiresAfter: Date.now() + HOUR / 2 - NOW });
    const { view, clock, replica } = follow(store());
    const causeOf = (digest: string) => {
      const record = view.findKey(digest);
      return record === undefined ? "unknown" : unusableBecause(record, replica.now());
    };
    await until("the index is current", () => view.isCurrent());
    for (const jump of [-HOUR, 2 * HOUR]) {
      clock.wall += jump;
      expect(view.isCurrent()).toBe(false);
      await until("the index is current again", () => view.isCurrent());
      expect(causeOf(dead.digest)).toBe("expired");
      expect(causeOf(alive.digest)).toBeUndefined();
    }
  });

  test("changes that were pruned before they were read make it load everything anew", async () => {
    const home = await makeTeam(store());
    const { view, metrics } = follow(store());
    await until("the index is current", () => view.isCurrent());
    const key = await storeKey(store(), home);
    await change(store(), null, async (tx) => {
      await sql`update keys set scopes = array['memory:write'] where id = ${key.keyId}`.execute(tx);
      await sql`set constraints all immediate`.execute(tx);
      await sql`delete from changes`.execute(tx);
    });
    const head = await feedHead(store());
    await until("the index is at the head", () => view.isCurrent() && view.lastSeq() === head);
    expect(view.findKey(key.digest)).toBeDefined();
    expect(await metric(metrics, "keyplane_index_database_rollbacks_total")).toBe(0);
  });

  test("c26: a database that lost its last changes and wrote as many others is noticed by the change's id", async () => {
    const home = await makeTeam(store());
    const [lost, kept] = [await storeKey(store(), home), await storeKey(store(), home)];
    const { view, metrics, lines } = follow(store());
    await until("the index is current", () => view.isCurrent() && view.findKey(lost.digest));
    const { digest: session } = await signIn(store());
    await change(store(), null, async (tx) => {
      await sql`delete from key_versions where key_id = ${lost.keyId}`.execute(tx);
      await sql`set constraints all immediate`.execute(tx);
      await sql`delete from changes where seq = (select head from feed)`.execute(tx);
      await sql`update feed set head = head - 1`.execute(tx);
      await sql`update changes set id = gen_random_uuid() where seq = (select head from feed)`.execute(tx);
    });
    await until("the lost key is gone", () => view.findKey(lost.digest) === undefined && view.isCurrent());
    expect(view.findKey(kept.digest)).toBeDefined();
    expect(await metric(metrics, "keyplane_index_database_rollbacks_total")).toBeGreaterThan(0);
    expect(lines.join("")).toContain("the database was rolled back");
    await until("sessions that may have ended are ended", async () => !(await findSession(store().db, session)));
  });

  test("c76: of a database that was put back in time it is recorded that uses of keys are missing", async () => {
    const { view } = follow(store());
    const lostUntil = async () => (await readKnownUsage(store().db, "key_none")).lostUntil ?? 0;
    await storeKey(store(), await makeTeam(store()));
    const head = await feedHead(store());
    await until("the index is at the head", () => view.isCurrent() && view.lastSeq() === head);
    const before = await lostUntil();
    await sql`update changes set id = gen_random_uuid() where seq = (select head from feed)`.execute(store().db);
    await until("the loss is recorded", async () => (await lostUntil()) > before);
  });

  test("a replica that was taken for dead registers again, and is waited for", async () => {
    const { view, id } = follow(store());
    await until("the index is current", () => view.isCurrent());
    await sql`delete from replicas where id = ${id}`.execute(store().db);
    await until("its row is back", async () => {
      const { rows } = await sql`select from replicas where id = ${id} and acked_seq = ${view.lastSeq()}`.execute(
        store().db,
      );
      return rows.length === 1;
    });
    await until("the index is current", () => view.isCurrent());
  });

  test("a replica that ends is waited for no more", async () => {
    const started = startReplica(store());
    await until("the index is current", () => started.view.isCurrent());
    await started.replica.close();
    expect(started.view.isCurrent()).toBe(false);
    const { rows } = await sql`select from replicas where id = ${started.id}`.execute(store().db);
    expect(rows).toEqual([]);
  });

  test("b185: a replica that ends before all that it noted is written is taken for one that died", async () => {
    const ended = startReplica(store());
    await until("the index is current", () => ended.view.isCurrent());
    await ended.replica.close(false);
    const { rows } = await sql`select from replicas where id = ${ended.id}`.execute(store().db);
    expect(rows).toHaveLength(1);
    await sql`delete from replicas where id = ${ended.id}`.execute(store().db);
  });

  test("b24: a stream is cut when its key is revoked, and when it expires", async () => {
    const home = await makeTeam(store());
    const [revoked, expiring, other] = [
      await storeKey(store(), home),
      await storeKey(store(), home, { expiresAfter: Date.now() + 1_500 - NOW }),
      await storeKey(store(), home),
    ];
    const { view, streams } = follow(store());
    await until("the index is current", () => view.isCurrent());
    const cut: string[] = [];
    for (const [name, { digest }] of Object.entries({ revoked, expiring, other })) {
      const record = view.findKey(digest);
      if (record === undefined) throw new Error("the key is not in the index");
      streams.track(record, () => cut.push(name));
    }
    await revoked.revoke();
    await until("the revoked key's stream is cut", () => cut.includes("revoked"));
    await until("the expired key's stream is cut", () => cut.includes("expiring"));
    expect(cut.toSorted()).toEqual(["expiring", "revoked"]);
  });

  test("a change of the key's rights reaches the index without a new secret", async () => {
    const home = await makeTeam(store());
    const key = await storeKey(store(), home, { policy: policyOf({ scopes: ["memory:read", "memory:write"] }) });
    const { view } = follow(store());
    const wide = await until("the key is there", () => view.findKey(key.digest));
    await sql`update keys set scopes = array['memory:read'] where id = ${key.keyId}`.execute(store().db);
    await until("the key is narrower", () => (view.findKey(key.digest)?.scopes ?? 0) < wide.scopes);
  });

  test("a placeholder of a team works as long as there is that team", async () => {
    const home = await makeTeam(store());
    const { placeholders } = parsePlaceholders(`inf_dev-key@${home.name},inf_no-team@no-such-team`);
    const { view, lines } = follow(store(), placeholders);
    await until("the index is current", () => view.isCurrent());
    expect(view.findKey(keyDigest("inf_dev-key"))).toMatchObject({ teamId: home.teamId, libraryIds: null });
    expect(view.findKey(keyDigest("inf_no-team"))).toBeUndefined();
    expect(lines.join("")).toContain("placeholder keys name no team");
    await run(store(), (tx) => deleteTeam(tx, home));
    await until("the placeholder is gone", () => view.findKey(keyDigest("inf_dev-key")) === undefined);
  });
});

test.concurrent("c36, c37: a replica without a database is never current, and recovers by itself", async (context) => {
  const { relay, store, follow } = await relayed(context);
  relay.cut();
  const { view, lines } = follow(store);
  await until("it has tried", () => lines.join("").includes("cannot follow the database"));
  expect(view.isCurrent()).toBe(false);
  relay.restore();
  await until("the index is current", () => view.isCurrent());
  expect(levelsOf(lines)).toEqual([ERROR]);
  relay.cut();
  await until("the lease runs out", () => !view.isCurrent());
  await until("it has said so", () => levelsOf(lines).length === 3);
  expect(levelsOf(lines)).toEqual([ERROR, WARNING, ERROR]);
  relay.restore();
  await until("the index is current again", () => view.isCurrent());
});

test.concurrent("c31, c40: a lease runs out on a network that swallows every byte, and nothing is decided on old data after it", async (context) => {
  const { relay, store, direct, follow } = await relayed(context);
  const home = await makeTeam(direct);
  const key = await storeKey(direct, home);
  const { view, clock, lines } = follow(store);
  await until("the index is current", () => view.isCurrent() && view.findKey(key.digest));
  relay.silence();
  await key.revoke();
  clock.steady += LEASE_MS;
  clock.wall += LEASE_MS;
  expect(view.isCurrent()).toBe(false);
  await until("it has asked in vain", () => lines.join("").includes("cannot follow the database"));
  expect(view.isCurrent()).toBe(false);
  relay.restore();
  await until("the index is current again", () => view.isCurrent());
  expect(view.findKey(key.digest)?.state ?? "revoked").toBe("revoked");
});

/** In a log's lines. */
const [WARNING, ERROR] = [40, 50];

/** How seriously it was said that the database cannot be followed. */
function levelsOf(lines: readonly string[]): number[] {
  return lines.filter((line) => line.includes("cannot follow the database")).map((line) => JSON.parse(line).level);
}

/** A database behind a relay, the way around it, and what starts a replica that ends with the test. */
async function relayed({ onTestFinished }: TestContext) {
  const { url, drop } = await freshDatabase();
  onTestFinished(drop);
  const direct = await openPostgres(url);
  onTestFinished(() => direct.close());
  await migrate(direct);
  const target = new URL(url);
  const relay = await startRelay({ host: target.hostname, port: Number(target.port) });
  onTestFinished(() => relay.close());
  target.host = `127.0.0.1:${relay.port}`;
  const store = await openPostgres(target.href);
  onTestFinished(() => store.close());
  const follow = (...args: Parameters<typeof startReplica>) => {
    const started = startReplica(...args);
    onTestFinished(() => started.replica.close());
    return started;
  };
  return { relay, store, direct, follow };
}
