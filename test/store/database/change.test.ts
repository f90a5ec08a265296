import { randomUUID } from "node:crypto";
import { AbortedTransactionError, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { appendAudit } from "../../../store/audit/audit.ts";
import { change, type Tx, takeLeadership } from "../../../store/database/change.ts";
import { StaleLeaderError } from "../../../store/database/errors.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { changesAfter, type FeedChange } from "../../../store/feed/change-feed.ts";
import { releaseGateway, saveGateway } from "../../../store/gateways/gateways.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion, endRetiring, retireVersions } from "../../../store/keys/lifecycle/key-versions.ts";
import { updateKeyPolicy } from "../../../store/keys/lifecycle/policy-update.ts";
import { releaseKey } from "../../../store/keys/lifecycle/release.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { requestRotation } from "../../../store/keys/lifecycle/rotation-request.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { recordUsage } from "../../../store/keys/uses/usage.ts";
import { removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import {
  deregisterReplica,
  heartbeat,
  readReplicas,
  registerReplica,
  removeReplicas,
} from "../../../store/replicas/replicas.ts";
import { deleteTeam, saveTeam } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import {
  gatewayDraft,
  HOUR,
  libraryDraft,
  makeTeam,
  NOW,
  nextVersion,
  policyOf,
  readSnapshot,
  reservationOf,
  reserveKey,
  run,
  teamDraft,
  unique,
} from "../fixtures.ts";

const keyring = parseKeyring(Buffer.alloc(32, 1).toString("base64"));

describeNightlyOnEachEngine("What is written", (store, engine) => {
  describe("The change feed carries exactly what each writer changes", () => {
    /** What a writer's transaction put into the feed, as `kind ref`. */
    const changesOf = async (body: (tx: Tx) => Promise<unknown>, at = NOW): Promise<string[]> => {
      const { head } = await readSnapshot(store());
      await run(store(), body, at);
      const { changes } = await changesAfter(store(), head, 100);
      return changes.map(({ kind, ref }: FeedChange) => `${kind} ${ref}`);
    };

    test("of a key: one change for each transition, however many rows it touches, and none for a repetition", async () => {
      const home = await makeTeam(store());
      const one = reservationOf(home, { policy: policyOf({ libraryIds: ["lib_a", "lib_b"] }) });
      const keyId = one.key.id;
      const own = [`key ${keyId}`];
      const reserve = (number: number) => (tx: Tx) => reserveVersion(tx, nextVersion(one, number));
      const activate = (number: number) => (tx: Tx) => activateVersion(tx, { keyId, number, overlapMs: HOUR });
      const update = (generation: number, displayName: string) => (tx: Tx) =>
        updateKeyPolicy(tx, {
          keyId,
          generation,
          policy: policyOf({ displayName, libraryIds: ["lib_a", "lib_b"] }),
          expiresAfter: null,
        });
      const steps: [what: string, body: (tx: Tx) => Promise<unknown>, changes: string[], at?: number][] = [
        ["reserve", (tx) => reserveVersion(tx, one), own],
        ["reserve again", (tx) => reserveVersion(tx, one), []],
        ["activate", activate(1), own],
        ["activate again", activate(1), []],
        ["reserve 2", reserve(2), own],
        ["reserve 3", reserve(3), own],
        ["activate 3, void 2, retire 1", activate(3), own],
        ["a new name and generation", update(2, "renamed"), []],
        ["the same policy again", update(2, "renamed"), []],
        [
          "a shorter list",
          (tx) =>
            updateKeyPolicy(tx, { keyId, generation: 3, policy: policyOf({ libraryIds: [] }), expiresAfter: null }),
          own,
        ],
        ["retire nothing yet", (tx) => retireVersions(tx, keyId), []],
        ["retire", (tx) => retireVersions(tx, keyId), own, NOW + HOUR],
        ["end what has ended", (tx) => endRetiring(tx, keyId, 1), []],
        ["ask for a rotation", (tx) => requestRotation(tx, keyId, false), own],
        ["release", (tx) => releaseKey(tx, keyId), []],
        ["revoke", (tx) => revokeKey(tx, keyId, "ByHand"), own],
        ["revoke again", (tx) => revokeKey(tx, keyId, "Deleted"), []],
      ];
      for (const [what, body, expected, at] of steps) expect(await changesOf(body, at), what).toEqual(expected);
    });

    test("of a team: one change, the former holder of a namespace not among them, and none when nothing changed", async () => {
      const namespace = unique("ns");
      const draft = teamDraft({ namespaces: [namespace, unique("ns")] });
      const { head } = await readSnapshot(store());
      const { teamId } = await run(store(), (tx) => saveTeam(tx, draft));
      expect((await changesAfter(store(), head, 9)).changes).toMatchObject([{ kind: "team", ref: teamId }]);
      const own = [`team ${teamId}`];
      const rename = { ...draft, displayName: "renamed", generation: 2 };
      const member = { role: "admin", kind: "group", value: "g" } as const;
      const other = teamDraft({ namespaces: [namespace] });
      await run(store(), (tx) => saveTeam(tx, { ...other, namespaces: [] }));
      const steps: [what: string, body: (tx: Tx) => Promise<unknown>, changes: string[], at?: number][] = [
        ["the same", (tx) => saveTeam(tx, draft), []],
        ["its display name", (tx) => saveTeam(tx, rename), []],
        ["a member", (tx) => saveTeam(tx, { ...rename, members: [member] }), own],
        ["its default library", (tx) => saveTeam(tx, { ...rename, defaultLibrary: { namespace, name: "l" } }), own],
        ["another's refused claim", (tx) => saveTeam(tx, other), []],
        ["deletion", (tx) => deleteTeam(tx, draft), own],
        ["deletion again", (tx) => deleteTeam(tx, draft), []],
      ];
      for (const [what, body, expected, at] of steps) expect(await changesOf(body, at), what).toEqual(expected);
    });

    test("of a library and a gateway: one change when it matters to a decision, and none when saved again", async () => {
      const home = await makeTeam(store());
      const library = libraryDraft(home);
      const gateway = gatewayDraft(home, {
        upstreams: [{ name: "u", dialect: "openai", baseUrl: "https://u.example", credential: "sk" }],
        routes: [{ model: "m", routeId: "r", upstream: "u", upstreamModel: "x", fallbacks: [] }],
      });
      const { libraryId } = await run(store(), (tx) => saveLibrary(tx, library));
      const { gatewayId } = await run(store(), (tx) => saveGateway(tx, gateway, keyring));
      const reroute = { ...gateway, routes: [] };
      const move = { ...reroute, upstreams: gateway.upstreams.map((u) => ({ ...u, credential: "sk-2" })) };
      const steps: [what: string, body: (tx: Tx) => Promise<unknown>, changes: string[], at?: number][] = [
        ["library again", (tx) => saveLibrary(tx, library), []],
        ["library's name", (tx) => saveLibrary(tx, { ...library, displayName: "new" }), []],
        ["library retained", (tx) => removeLibrary(tx, { ...library, policy: "Retain" }), [`library ${libraryId}`]],
        ["library back", (tx) => saveLibrary(tx, library), [`library ${libraryId}`]],
        ["library deleted", (tx) => removeLibrary(tx, { ...library, policy: "Delete" }), [`library ${libraryId}`]],
        ["gateway again", (tx) => saveGateway(tx, gateway, keyring), []],
        ["gateway's routes", (tx) => saveGateway(tx, reroute, keyring), [`gateway ${gatewayId}`]],
        ["gateway's credential", (tx) => saveGateway(tx, move, keyring), [`gateway ${gatewayId}`]],
        ["gateway released", (tx) => releaseGateway(tx, home.cluster, gateway.ownerUid), [`gateway ${gatewayId}`]],
        ["gateway released again", (tx) => releaseGateway(tx, home.cluster, gateway.ownerUid), []],
      ];
      for (const [what, body, expected, at] of steps) expect(await changesOf(body, at), what).toEqual(expected);
    });

    test("no book-keeping reaches it: usage, audit, replicas, leaders", async () => {
      const home = await makeTeam(store());
      const { key } = await reserveKey(store(), home);
      await run(store(), (tx) => revokeKey(tx, key.id, "ByHand"));
      const { head, headId } = await readSnapshot(store());
      await recordUsage(store(), [{ keyId: key.id, version: 1, at: NOW }]);
      await recordUsage(store(), [{ keyId: key.id, version: 1, at: NOW + 1 }]);
      await appendAudit(store().db, [{ at: NOW, kind: "request.refused", keyId: key.id, detail: {} }]);
      await registerReplica(store(), "r");
      await heartbeat(store(), "r", { seq: head, id: headId });
      const { replicas } = await readReplicas(store(), head);
      await removeReplicas(store(), replicas);
      await registerReplica(store(), "r");
      await deregisterReplica(store(), "r");
      await takeLeadership(store(), unique("cluster"));
      expect((await readSnapshot(store())).head).toBe(head);
    });
  });

  describe("A transaction", () => {
    test("in which a statement failed is not taken for committed, though its caller went on", async () => {
      const name = unique("undone");
      const write = store()
        .db.transaction()
        .execute(async (tx) => {
          await saveTeam(tx, teamDraft({ name }));
          await sql`select 1 / 0`.execute(tx).catch(() => {});
        });
      await expect(write).rejects.toThrow(AbortedTransactionError);
      expect(await store().db.selectFrom("teams").where("name", "=", name).selectAll().execute()).toEqual([]);
      await store()
        .db.transaction()
        .execute((tx) => saveTeam(tx, teamDraft({ name })));
      expect(await store().db.selectFrom("teams").where("name", "=", name).selectAll().execute()).toHaveLength(1);
    });
  });

  describe("A leader", () => {
    test("c21: that another has succeeded writes no more, and the other does", async () => {
      const home = await makeTeam(store(), { cluster: unique("cluster") });
      const old = await takeLeadership(store(), home.cluster);
      const reservation = reservationOf(home);
      await change(store(), old, (tx) => reserveVersion(tx, reservation));
      const present = await takeLeadership(store(), home.cluster);
      expect(present.epoch).toBeGreaterThan(old.epoch);
      const revoke = (tx: Tx) => revokeKey(tx, reservation.key.id, "Deleted");
      const deposed = change(store(), old, revoke);
      await expect(deposed).rejects.toThrow(StaleLeaderError);
      await expect(deposed).rejects.toThrow(/another controller leads\..* keyplane doctor names them$/);
      expect(await findKey(store().db, reservation.key.id)).toMatchObject({ state: "active" });
      await change(store(), present, revoke);
      expect(await findKey(store().db, reservation.key.id)).toMatchObject({ state: "revoked" });
    });

    test("c21: of one cluster has no say in the leadership of another", async () => {
      const [one, two] = [unique("cluster"), unique("cluster")];
      const fence = await takeLeadership(store(), one);
      await takeLeadership(store(), two);
      await takeLeadership(store(), two);
      expect((await change(store(), fence, async () => "ok")).result).toBe("ok");
    });

    test.each([
      ["all namespaces", "", "some", "/a"],
      ["some", "/a,b", "all namespaces", ""],
      ["some", "/a,b", "others, one of which is the same", "/b,c"],
      ["one", "/b", "several, of which it is one", "/a,b,c"],
    ])("c72: of %s (%s) writes no more once another leads %s (%s)", async (_what, mine, _which, theirs) => {
      const cluster = unique("cluster");
      const old = await takeLeadership(store(), cluster + mine);
      await change(store(), old, async () => {});
      const present = await takeLeadership(store(), cluster + theirs);
      await expect(change(store(), old, async () => {})).rejects.toThrow(/another controller leads\./);
      await change(store(), present, async () => {});
      const again = await takeLeadership(store(), cluster + mine);
      expect(again.epoch).toBeGreaterThan(old.epoch);
      await change(store(), again, async () => {});
      await expect(change(store(), present, async () => {})).rejects.toThrow(StaleLeaderError);
    });

    test("c72: of some namespaces has no say in those of others, nor in another cluster's", async () => {
      const cluster = unique("cluster");
      const fence = await takeLeadership(store(), `${cluster}/a,b`);
      for (const other of [`${cluster}/c`, `${cluster}/aa,bb`, `${cluster}2`, `${cluster}2/a,b`]) {
        await takeLeadership(store(), other);
      }
      expect((await change(store(), fence, async () => "ok")).result).toBe("ok");
    });

    test("c72: of some namespaces leads beside those of others, also where one of all namespaces has led before", async () => {
      const cluster = unique("cluster");
      await takeLeadership(store(), cluster);
      const fences = [
        await takeLeadership(store(), `${cluster}/a,b`),
        await takeLeadership(store(), `${cluster}/c`),
        await takeLeadership(store(), `${cluster}/d`),
      ];
      for (const fence of fences) expect((await change(store(), fence, async () => "ok")).result).toBe("ok");
    });

    test("c128: of thousands of namespaces, with names that have nothing in common, leads as one of a few does", async () => {
      const cluster = unique("cluster");
      const names = Array.from({ length: 5_000 }, () => randomUUID());
      const first = await takeLeadership(store(), `${cluster}/${names.join(",")}`);
      const again = await takeLeadership(store(), first.scope);
      await expect(change(store(), first, async () => {})).rejects.toThrow(StaleLeaderError);
      await change(store(), again, async () => {});
      await takeLeadership(store(), `${cluster}/${names.at(-1)}`);
      await expect(change(store(), again, async () => {})).rejects.toThrow(StaleLeaderError);
    });

    test("c72: of those that take scopes which overlap at once, one can write", async () => {
      const cluster = unique("cluster");
      const scopes = ["", "/a,b", "/b,c", "/a,b,c", "/a,c"].map((namespaces) => cluster + namespaces);
      const fences = await Promise.all([...scopes, ...scopes].map((scope) => takeLeadership(store(), scope)));
      const writes = await Promise.allSettled(fences.map((fence) => change(store(), fence, async () => {})));
      expect(writes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    test("c72: of those that take scopes which overlap at once, and which none has led before, one can write", async () => {
      // On one connection each of them is done before the next.
      for (let round = 0; round < (engine === "pglite" ? 1 : 20); round++) {
        const cluster = unique("cluster");
        const fences = await Promise.all(
          ["/a,b", "/b,c", "/b,d", "/b,e"].map((namespaces) => takeLeadership(store(), cluster + namespaces)),
        );
        const writes = await Promise.allSettled(fences.map((fence) => change(store(), fence, async () => {})));
        expect(writes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      }
    });

    test("c59: whose number was given again by a database that was put back as a whole writes no more", async () => {
      const cluster = unique("cluster");
      const paused = await takeLeadership(store(), cluster);
      await store().db.deleteFrom("leaders").where("cluster", "=", cluster).execute();
      const next = await takeLeadership(store(), cluster);
      expect(next.epoch).toBe(paused.epoch);
      await change(store(), next, async () => {});
      await expect(change(store(), paused, async () => {})).rejects.toThrow(StaleLeaderError);
    });

    test("c26: whose epoch the database has forgotten has to take the leadership again", async () => {
      const cluster = unique("cluster");
      await expect(change(store(), { scope: cluster, epoch: 3, term: "1/x" }, async () => {})).rejects.toThrow(
        StaleLeaderError,
      );
    });
  });
});

describeOnPostgres("A leader that is slow", (store) => {
  test("c21: a write under way is finished before a successor takes over, so that none commits after it", async () => {
    const home = await makeTeam(store(), { cluster: unique("cluster") });
    const fence = await takeLeadership(store(), home.cluster);
    const reservation = reservationOf(home);
    const inside = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const write = change(store(), fence, async (tx) => {
      await reserveVersion(tx, reservation);
      inside.resolve();
      await letGo.promise;
    });
    await inside.promise;
    let taken = false;
    const successor = takeLeadership(store(), home.cluster).finally(() => {
      taken = true;
    });
    await until("the successor waits", async () => {
      const { rows } = await sql<{ waiting: number }>`select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`.execute(store().db);
      return rows[0]?.waiting === 1;
    });
    expect(taken).toBe(false);
    letGo.resolve();
    await write;
    await successor;
    expect(await findKey(store().db, reservation.key.id)).toBeDefined();
  });

  test("c21: that is paused in a transaction is cut off, and holds up no revocation for longer", async () => {
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    const paused = Promise.withResolvers<void>();
    const inside = Promise.withResolvers<void>();
    const write = change(store(), null, async (tx) => {
      await requestRotation(tx, key.id, false);
      inside.resolve();
      await paused.promise;
    });
    write.catch(() => {});
    await inside.promise;
    await change(store(), null, (tx) => revokeKey(tx, key.id, "ByHand"));
    paused.resolve();
    await expect(write).rejects.toThrow();
    expect(await findKey(store().db, key.id)).toMatchObject({ state: "revoked", rotationRequest: null });
  });
});
