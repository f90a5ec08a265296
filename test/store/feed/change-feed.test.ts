import { sql } from "kysely";
import { expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { change, type Tx } from "../../../store/database/change.ts";
import type { Store } from "../../../store/database/store.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { CHANGES_CHANNEL, changesAfter, type FeedChange } from "../../../store/feed/change-feed.ts";
import { releaseGateway, saveGateway } from "../../../store/gateways/gateways.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import { pruneChanges } from "../../../store/retention.ts";
import { deleteTeam, saveTeam, type TeamDraft } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { until } from "../../env/until.ts";
import {
  digestOf,
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
  unique,
} from "../fixtures.ts";

/** Columns of a key's record that do not change by themselves: identities, and the transaction that wrote a version. */
const NEVER_ALONE = ["key_versions.changed_tx", "keys.id", "keys.name", "teams.id"];

const keyring = parseKeyring(Buffer.alloc(32, 1).toString("base64"));

/** Follows the feed to its head, as a replica does. */
async function readAll(store: Store, after: number): Promise<FeedChange[]> {
  const all: FeedChange[] = [];
  for (let seq = after; ; ) {
    const { head, changes, gone } = await changesAfter(store, seq, 50);
    expect(gone).toBe(false);
    all.push(...changes);
    seq = changes.at(-1)?.seq ?? seq;
    if (seq >= head) return all;
  }
}

async function headOf(store: Store): Promise<number> {
  return (await readSnapshot(store)).head;
}

/** A key that is bound to a gateway and a library of its team, the team's default one, and limited in every way. */
async function makeBoundKey(store: Store) {
  const home = await makeTeam(store);
  const [library, gateway] = [libraryDraft(home), gatewayDraft(home)];
  const { libraryId } = await run(store, (tx) => saveLibrary(tx, library));
  const { gatewayId } = await run(store, (tx) => saveGateway(tx, gateway, keyring));
  const defaultLibrary = { namespace: home.namespace, name: library.name };
  await run(store, (tx) => saveTeam(tx, { ...home, generation: 2, defaultLibrary }));
  const bound = await reserveKey(store, home, {
    expiresAfter: HOUR,
    policy: policyOf({
      scopes: ["gateway:generate", "memory:write"],
      boundGatewayId: gatewayId,
      libraryIds: [libraryId],
      mcpDefaultLibraryId: libraryId,
      allowedModels: ["fast chat", "a,b"],
      expiresAt: NOW + 2 * HOUR,
      rateLimit: { requestsPerMinute: 60, burst: 5, scope: "Replica" },
      concurrent: 3,
      tokenLimit: { tokensPerMinute: 9_000, scope: "Replica" },
      budgets: BUDGETS,
      allowedCIDRs: ["203.0.113.0/24", "2001:db8::/32"],
    }),
  });
  return { home, library, libraryId, gateway, gatewayId, bound };
}

const BUDGETS = [{ tokens: 9_000, period: "Week", timeZone: "Europe/Berlin", onExhausted: "Alert" }] as const;

describeNightlyOnEachEngine("The change feed's writers", (store) => {
  test("read no more of the feed the longer it is", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    // What a session has counted and not yet reported: of earlier transactions too.
    const countBlocks = async (tx: Tx) => {
      const { rows } = await sql<{ blocks: number }>`
        select sum(coalesce(pg_stat_get_xact_blocks_fetched(id), 0))::int as blocks from (
          select 'changes'::regclass union select indexrelid from pg_index where indrelid = 'changes'::regclass
        ) relation (id)`.execute(tx);
      return rows[0]?.blocks ?? Number.NaN;
    };
    const blocksRead = () =>
      store()
        .db.transaction()
        .execute(async (tx) => {
          const before = await countBlocks(tx);
          await sql`savepoint before`.execute(tx);
          await revokeKey(tx, key.id, "ByHand");
          await sql`set constraints all immediate`.execute(tx);
          const blocks = (await countBlocks(tx)) - before;
          await sql`rollback to savepoint before`.execute(tx);
          return blocks;
        });
    const before = await blocksRead();
    expect(before).toBeGreaterThan(0);
    await store()
      .db.transaction()
      .execute(async (tx) => {
        await sql`update feed set head = head + 5000`.execute(tx);
        await sql`insert into changes (seq, tx, kind, ref)
          select head - n, gen_random_uuid(), 'key', n::text from feed, generate_series(0, 4999) n`.execute(tx);
      });
    await sql`analyze changes`.execute(store().db);
    expect(await blocksRead()).toBeLessThan(2 * before);
  });
});

describeOnPostgres("c27: concurrent writers", (store) => {
  test("c27: of two writers the one that takes its number first commits first, so a reader misses none", async () => {
    const home = await makeTeam(store());
    const first = await reserveKey(store(), home);
    const second = await reserveKey(store(), home);
    const before = await headOf(store());
    const numbered = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const slow = store()
      .db.transaction()
      .execute(async (tx) => {
        await revokeKey(tx, first.key.id, "ByHand");
        await sql`set constraints all immediate`.execute(tx);
        numbered.resolve();
        await letGo.promise;
      });
    await numbered.promise;
    let settled = false;
    const quick = change(store(), null, (tx) => revokeKey(tx, second.key.id, "ByHand")).finally(() => {
      settled = true;
    });
    await until("the second writer waits for the first one's number", async () => {
      const { rows } = await sql<{ waiting: number }>`select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`.execute(store().db);
      return rows[0]?.waiting === 1;
    });
    expect(await readAll(store(), before)).toEqual([]);
    expect(settled).toBe(false);
    letGo.resolve();
    await slow;
    const { seq } = await quick;
    const changes = await readAll(store(), before);
    expect(changes.map(({ ref }) => ref)).toEqual([first.key.id, second.key.id]);
    expect(changes.at(-1)?.seq).toBe(seq);
  });

  test("c27: six writers over the same rows in different orders: none deadlocks, no change is lost or unread", async () => {
    const home = await makeTeam(store());
    const keys = await Promise.all([1, 2, 3, 4, 5].map(() => reserveKey(store(), home)));
    const ids = keys.map(({ key }) => key.id);
    await sql`update keys set requests_per_minute = 1, burst = 1 where id = any(${ids}::text[])`.execute(store().db);
    const start = await headOf(store());
    const rounds = NIGHTLY ? 10 : 6;
    const receipts: { seq: number; refs: string[] }[] = [];
    const writer = async (order: readonly number[]) => {
      for (let round = 0; round < rounds; round++) {
        const refs = order.map((index) => ids[(index + round) % ids.length] ?? "");
        const { seq } = await change(store(), null, async (tx) => {
          for (const id of refs) await sql`update keys set burst = burst + 1 where id = ${id}`.execute(tx);
        });
        receipts.push({ seq, refs });
      }
    };
    let writing = true;
    const seen: FeedChange[] = [];
    const reader = (async () => {
      for (let last = start; ; ) {
        const over = !writing;
        const changes = await readAll(store(), last);
        seen.push(...changes);
        last = changes.at(-1)?.seq ?? last;
        if (over) return;
      }
    })();
    await Promise.all(
      [
        [0, 1, 2],
        [2, 1, 0],
        [1, 3, 4],
        [4, 3, 1],
        [0, 4, 2],
        [3, 0, 1],
      ].map(writer),
    );
    writing = false;
    await reader;

    const { rows } = await sql<{ total: number }>`
      select sum(burst)::int as total from keys where id = any(${ids}::text[])`.execute(store().db);
    expect(rows[0]?.total).toBe(ids.length + 6 * rounds * 3);
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => start + 1 + index));
    expect(seen).toHaveLength(6 * rounds * 3);
    for (const { seq, refs } of receipts) {
      const own = seen.filter((entry) => entry.seq > seq - 3 && entry.seq <= seq).map(({ ref }) => ref);
      expect(own.sort()).toEqual([...refs].sort());
    }
  });
});

describeNightlyOnEachEngine("The change feed", (store) => {
  test("a writer that bypasses our functions cannot forget a change", async () => {
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    const before = await headOf(store());
    await sql`update keys set scopes = '{}' where id = ${key.id}`.execute(store().db);
    expect((await readAll(store(), before)).map(({ kind, ref }) => [kind, ref])).toEqual([["key", key.id]]);
  });

  test("a transaction that fails leaves no change and no gap", async () => {
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    const before = await headOf(store());
    await expect(
      change(store(), null, async (tx) => {
        await revokeKey(tx, key.id, "ByHand");
        await sql`set constraints all immediate`.execute(tx);
        throw new Error("changed my mind");
      }),
    ).rejects.toThrow("changed my mind");
    expect(await headOf(store())).toBe(before);
    const { seq } = await change(store(), null, (tx) => revokeKey(tx, key.id, "ByHand"));
    expect(seq).toBe(before + 1);
  });

  test("a receipt's seq covers all that its transaction did, and nothing at all needs no number", async () => {
    const home = await makeTeam(store());
    const before = await headOf(store());
    const one = reservationOf(home);
    const two = reservationOf(home);
    const { seq } = await change(store(), null, async (tx) => {
      await reserveVersion(tx, one);
      await reserveVersion(tx, two);
    });
    const changes = await readAll(store(), before);
    expect(changes.map(({ ref }) => ref).sort()).toEqual([one.key.id, two.key.id].sort());
    expect(seq).toBe(changes.at(-1)?.seq);
    expect((await change(store(), null, async () => "nothing")).seq).toBe(seq);
  });

  test("a committed change is hinted at with one notification, an undone one with none", async () => {
    const home = await makeTeam(store());
    let hints = 0;
    const listening = await store().listen(
      CHANGES_CHANNEL,
      () => hints++,
      () => {},
    );
    await expect(
      change(store(), null, async (tx) => {
        await reserveVersion(tx, reservationOf(home));
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    await run(store(), async (tx) => {
      for (let i = 0; i < 5; i++) await reserveVersion(tx, reservationOf(home));
    });
    await until("the hint arrives", () => hints > 0);
    await listening.ping();
    expect(hints).toBe(1);
    await listening.close();
  });

  test("a reader that is behind what was pruned has to begin anew, one that is not goes on", async () => {
    const home = await makeTeam(store());
    const before = await headOf(store());
    for (let i = 0; i < 5; i++) await reserveKey(store(), home);
    await pruneChanges(store(), 3);
    expect(await changesAfter(store(), before, 50)).toMatchObject({ gone: true, changes: [], keys: [] });
    expect(await changesAfter(store(), before + 1, 50)).toMatchObject({ gone: true });
    const behind = await changesAfter(store(), before + 2, 50);
    expect(behind).toMatchObject({ gone: false, idOfSeq: null });
    expect(behind.changes).toHaveLength(3);
    const last = { head: before + 5, idOfSeq: behind.changes.at(-1)?.id };
    expect(await changesAfter(store(), before + 5, 50)).toMatchObject({ gone: false, changes: [], ...last });
  });

  test("c26: a reader that knows more changes than the database has to begin anew", async () => {
    const head = await headOf(store());
    expect(await changesAfter(store(), head + 1, 50)).toMatchObject({ gone: true, head });
  });

  test("a reader gets as many changes as it asks for, and then the rest", async () => {
    const home = await makeTeam(store());
    const before = await headOf(store());
    const keys = [];
    for (let i = 0; i < 5; i++) keys.push(await reserveKey(store(), home));
    const first = await changesAfter(store(), before, 2);
    expect(first.changes.map(({ seq }) => seq)).toEqual([before + 1, before + 2]);
    expect(first.head).toBe(before + 5);
    expect(first.keys.map(({ keyId }) => keyId).sort()).toEqual(
      keys
        .slice(0, 2)
        .map(({ key }) => key.id)
        .sort(),
    );
  });

  test("c9: a retiring version is given with its deadline, the one that ended with its end", async () => {
    const home = await makeTeam(store());
    const one = await reserveKey(store(), home);
    const keyId = one.key.id;
    const two = nextVersion(one, 2);
    const three = nextVersion(one, 3);
    await run(store(), (tx) => activateVersion(tx, { keyId, number: 1, overlapMs: 0 }));
    await run(store(), (tx) => reserveVersion(tx, two));
    await run(store(), (tx) => activateVersion(tx, { keyId, number: 2, overlapMs: HOUR }));
    const before = await headOf(store());
    await run(store(), (tx) => reserveVersion(tx, three));
    await run(store(), (tx) => activateVersion(tx, { keyId, number: 3, overlapMs: 2 * HOUR }));
    const present = await changesAfter(store(), before, 50);
    const states = (keys: typeof present.keys) =>
      Object.fromEntries(
        keys.map(({ version, attributes, expiresAt }) => [version, [attributes.versionState, expiresAt]]),
      );
    expect(states(present.keys)).toEqual({
      1: ["retiring", NOW + HOUR],
      2: ["retiring", NOW + 2 * HOUR],
      3: ["active", Number.POSITIVE_INFINITY],
    });
    expect(present.keys.map(({ digest }) => digest).sort()).toEqual([one.digest, two.digest, three.digest].sort());

    const beforeEnd = present.head;
    await run(store(), (tx) => revokeKey(tx, keyId, "ByHand"));
    const ended = await changesAfter(store(), beforeEnd, 50);
    expect(Object.values(states(ended.keys)).map(([state]) => state)).toEqual(["revoked", "revoked", "revoked"]);
    const later = await headOf(store());
    await sql`update keys set scopes = '{}' where id = ${keyId}`.execute(store().db);
    expect((await changesAfter(store(), later, 50)).keys).toEqual([]);
    expect((await readSnapshot(store())).keys.filter((key) => key.keyId === keyId)).toEqual([]);
  });

  test("a snapshot has every key as a decision needs it", async () => {
    const { home, gatewayId, libraryId, bound } = await makeBoundKey(store());
    const given = await reserveKey(
      store(),
      { ...home, namespace: "" },
      { key: { source: "Placeholder" }, prefix: "inf_given" },
    );
    const { keys } = await readSnapshot(store());
    const recordOf = ({ digest }: { digest: string }) => keys.find((key) => key.digest === digest);
    expect(recordOf(bound)).toEqual({
      digest: bound.digest,
      keyId: bound.key.id,
      version: 1,
      expiresAt: NOW + HOUR,
      importedFormat: false,
      attributes: {
        teamId: home.teamId,
        namespace: home.namespace,
        teamHoldsNamespace: true,
        state: "active",
        versionState: "reserved",
        scopes: scopeSet(["gateway:generate", "memory:write"]),
        boundGatewayId: gatewayId,
        libraryIds: [libraryId],
        mcpDefaultLibraryId: libraryId,
        teamDefaultLibraryId: libraryId,
        allowedModels: ["fast chat", "a,b"],
        rateLimit: { requestsPerMinute: 60, burst: 5, scope: "Replica" },
        concurrent: 3,
        tokenLimit: { tokensPerMinute: 9_000, scope: "Replica" },
        subject: null,
        allowedCIDRs: ["203.0.113.0/24", "2001:db8::/32"],
        teamAllowedCIDRs: null,
        teamLimits: null,
        budgets: {
          owner: `${home.teamId} ${home.cluster}/${home.namespace}/${bound.key.name}`,
          items: BUDGETS,
        },
      },
    });
    expect(recordOf(given)).toMatchObject({
      importedFormat: true,
      expiresAt: Number.POSITIVE_INFINITY,
      attributes: {
        namespace: "",
        teamHoldsNamespace: true,
        boundGatewayId: null,
        libraryIds: null,
        allowedModels: null,
        rateLimit: null,
        concurrent: null,
        tokenLimit: null,
        subject: null,
        allowedCIDRs: null,
        teamAllowedCIDRs: null,
        teamLimits: null,
      },
    });
  });

  test.each<TeamDraft["limits"]>([
    { rate: { requestsPerMinute: 60, burst: 5, scope: "Installation" }, concurrent: 7 },
    { rate: null, concurrent: 7 },
    { rate: null, concurrent: null, tokens: { tokensPerMinute: 9_000, scope: "Installation" } },
    { rate: null, concurrent: null, budgets: BUDGETS },
  ])("b124: the limits of a team, %j, come with the team and with each of its keys, and go again", async (limits) => {
    const home = await makeTeam(store());
    const [one, other] = [await reserveKey(store(), home), await reserveKey(store(), await makeTeam(store()))];
    const declared = async (given: TeamDraft["limits"], generation: number) => {
      const before = await headOf(store());
      await run(store(), (tx) => saveTeam(tx, { ...home, limits: given, generation }));
      const { changes, keys, teams } = await changesAfter(store(), before, 50);
      expect(changes.map(({ kind, ref }) => [kind, ref])).toEqual([["team", home.teamId]]);
      expect(keys.map(({ keyId }) => keyId)).toEqual([one.key.id]);
      return [teams[0]?.limits, keys[0]?.attributes.teamLimits];
    };
    expect(await declared(limits, 2)).toEqual([limits, limits]);
    const { keys, teams } = await readSnapshot(store());
    expect(teams.find(({ teamId }) => teamId === home.teamId)?.limits).toEqual(limits);
    const ofKey = ({ key }: typeof one) => keys.find(({ keyId }) => keyId === key.id)?.attributes.teamLimits;
    expect([ofKey(one), ofKey(other)]).toEqual([limits, null]);
    expect(await declared(null, 3)).toEqual([null, null]);
  });

  test("b25: the rights that hung on a gateway, a library or a team go with it, and not the key", async () => {
    const { home, gateway, gatewayId, library, bound } = await makeBoundKey(store());
    const free = await reserveKey(store(), home);
    const before = await headOf(store());
    await run(store(), (tx) => releaseGateway(tx, home.cluster, gateway.ownerUid));
    await run(store(), (tx) => removeLibrary(tx, { ...library, policy: "Retain" }));
    const without = await changesAfter(store(), before, 50);
    const attributesOf = ({ digest }: { digest: string }) =>
      without.keys.find((key) => key.digest === digest)?.attributes;
    expect(without.removed.gatewayIds).toEqual([gatewayId]);
    expect(attributesOf(bound)).toMatchObject({ boundGatewayId: "", libraryIds: [], teamDefaultLibraryId: null });
    expect(attributesOf(free)).toMatchObject({ teamDefaultLibraryId: null });

    await run(store(), (tx) => deleteTeam(tx, home));
    const homeless = await changesAfter(store(), without.head, 50);
    expect(homeless.removed.teamIds).toEqual([home.teamId]);
    expect(homeless.keys.map(({ attributes }) => attributes.teamHoldsNamespace)).toEqual([false, false]);
  });

  test("a gateway is given with its upstreams in order, and again when its namespace comes or goes", async () => {
    const home = await makeTeam(store());
    const gateway = gatewayDraft(home, {
      routesOnly: true,
      upstreams: [
        { name: "z", dialect: "openai", baseUrl: "https://z.example", credential: "sk-1" },
        { name: "a", dialect: "gemini", baseUrl: "https://a.example", credential: null },
      ],
      routes: [{ model: "m", routeId: "r", upstream: "z", upstreamModel: "x", fallbacks: [] }],
    });
    const before = await headOf(store());
    const { gatewayId } = await run(store(), (tx) => saveGateway(tx, gateway, keyring));
    const made = await changesAfter(store(), before, 50);
    expect(made.gateways).toMatchObject([
      {
        gatewayId,
        teamId: home.teamId,
        teamHoldsNamespace: true,
        routesOnly: true,
        upstreams: [{ name: "z" }, { name: "a", sealed: null }],
        routes: [{ model: "m", routeId: "r", upstream: "z", upstreamModel: "x", fallbacks: [] }],
      },
    ]);
    await run(store(), (tx) => saveTeam(tx, { ...home, namespaces: [], generation: 2 }));
    const lost = await changesAfter(store(), made.head, 50);
    expect(lost.gateways).toMatchObject([{ gatewayId, teamHoldsNamespace: false }]);
  });

  test("c42: a state that this build does not know reaches the decision as it is", async () => {
    const home = await makeTeam(store());
    const one = await reserveKey(store(), home);
    const two = await reserveKey(store(), home);
    const before = await headOf(store());
    await sql`update keys set state = 'quarantined' where id = ${one.key.id}`.execute(store().db);
    await sql`update key_versions set state = 'doubted' where key_id = ${two.key.id}`.execute(store().db);
    await sql`update keys set scopes = '{memory:admin}', library_mode = 'some' where id = ${two.key.id}`.execute(
      store().db,
    );
    for (const { keys } of [await changesAfter(store(), before, 50), await readSnapshot(store())]) {
      const recordOf = (keyId: string) => keys.find((key) => key.keyId === keyId)?.attributes;
      expect(recordOf(one.key.id)?.state).toBe("quarantined");
      expect(recordOf(two.key.id)).toMatchObject({ versionState: "doubted", scopes: 0, libraryIds: [] });
    }
  });

  test("each column that a key's record is made of is fed, as soon as it is written", async () => {
    const { rows } = await sql<{ fed: string }>`
      select u.table_name || '.' || u.column_name as fed
      from information_schema.view_column_usage u
      where u.view_name = 'key_records' and u.view_schema = current_schema()
        and u.table_name in ('keys', 'key_versions', 'teams')
      except
      select c.event_object_table || '.' || c.event_object_column
      from information_schema.triggered_update_columns c
      where c.trigger_name like c.event_object_table || '\\_feed\\_%'
      order by 1`.execute(store().db);
    expect(rows.map(({ fed }) => fed)).toEqual(NEVER_ALONE);
  });

  test("a key that is erased by hand is named as gone", async () => {
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    const before = await headOf(store());
    await store()
      .db.transaction()
      .execute(async (tx) => {
        await sql`delete from key_versions where key_id = ${key.id}`.execute(tx);
        await sql`delete from keys where id = ${key.id}`.execute(tx);
      });
    const { keys, removed } = await changesAfter(store(), before, 50);
    expect([keys, removed.keyIds]).toEqual([[], [key.id]]);
  });

  test("a team is given with its default library, and again when that library comes or goes", async () => {
    const namespace = unique("ns");
    const team = await makeTeam(store(), { namespaces: [namespace], defaultLibrary: { namespace, name: "handbook" } });
    const library = libraryDraft(team, { name: "handbook" });
    const defaultAfter = async (write: Parameters<typeof change<unknown>>[2]) => {
      const before = await headOf(store());
      await change(store(), null, write);
      return (await changesAfter(store(), before, 50)).teams.find(({ teamId }) => teamId === team.teamId)
        ?.defaultLibraryId;
    };
    const made = await defaultAfter((tx) => saveLibrary(tx, library));
    expect(made).toMatch(/^lib_/);
    expect(await defaultAfter((tx) => removeLibrary(tx, { ...library, policy: "Retain" }))).toBeNull();
    expect(
      (await readSnapshot(store())).teams.find(({ teamId }) => teamId === team.teamId)?.defaultLibraryId,
    ).toBeNull();
  });
});

describeNightlyOnEachEngine("The change feed of thousands of keys", (store) => {
  test("is whole in a snapshot", async () => {
    const home = await makeTeam(store());
    const template = await reserveKey(store(), home);
    const [total, step] = [NIGHTLY ? 12_000 : 2_000, 1_000];
    // Step by step: each answer of the database has its deadline.
    for (let last = step; last <= total; last += step) {
      await run(store(), async (tx) => {
        await sql`insert into keys (id, cluster, namespace, name, team_id, source, state, display_name, scopes,
            gateway_bound, library_mode, generation)
          select 'bulk_' || n, cluster, namespace, 'bulk' || n, team_id, source, state, '', scopes, false, 'all', 1
          from keys, generate_series(${last - step + 1}::int, ${last}::int) n where id = ${template.key.id}`.execute(
          tx,
        );
        await sql`insert into key_versions (key_id, number, digest, prefix, state, source_kind, minted_at)
          select 'bulk_' || n, 1, sha256(convert_to('bulk' || n, 'UTF8')), 'inf_bulk', 'active', 'minted', now()
          from generate_series(${last - step + 1}::int, ${last}::int) n`.execute(tx);
      });
    }
    const { keys } = await readSnapshot(store());
    const bulk = keys.filter(({ keyId }) => keyId.startsWith("bulk_"));
    expect(bulk).toHaveLength(total);
    expect(new Set(bulk.map(({ digest }) => digest)).has(digestOf(`bulk${total}`))).toBe(true);
  });
});
