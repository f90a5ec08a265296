import { sql } from "kysely";
import { expect, test } from "vitest";
import { TOKEN_FIGURES, type TokenCount, type TokenFigures } from "../../../domain/usage/token-count.ts";
import type { Store } from "../../../store/database/store.ts";
import { addRequestCounts } from "../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../store/keys/uses/token-counts.ts";
import { prune, pruneUsage } from "../../../store/retention.ts";
import { readUsage } from "../../../store/usage/read-usage.ts";
import { rollUp } from "../../../store/usage/roll-up.ts";
import type { UsageQuestion } from "../../../store/usage/usage-question.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { HOUR, makeTeam, reserveKey, unique } from "../fixtures.ts";

const DAY = 24 * HOUR;
const SLOT = 5 * 60_000;
const ignore = () => {};
/** The beginning of the day, in UTC, so many days ago. */
const dayAgo = (days: number) => (Math.floor(Date.now() / DAY) - days) * DAY;

const figures = (given: Partial<TokenFigures>): TokenFigures => ({
  ...(Object.fromEntries(TOKEN_FIGURES.map((name) => [name, 0])) as TokenFigures),
  calls: 1,
  ...given,
});

function count(keyId: string, slot: number, given: Partial<Omit<TokenCount, "figures">> = {}, input = 1): TokenCount {
  const way = { gatewayId: "gw_a", routeId: "", model: "gpt", teamId: "team_a" };
  return { keyId, slot, ...way, ...given, figures: figures({ input }) };
}

const addTokens = (store: Store, ...counts: TokenCount[]) => addTokenCounts(store, counts, ignore);
const addRequests = (store: Store, keyId: string, slot: number, number: number) =>
  addRequestCounts(store, [{ keyId, slot, scope: "gateway:invoke", count: number }], ignore);

const ask = (keyId: string, more: Partial<UsageQuestion> = {}): UsageQuestion => ({
  ...{ from: dayAgo(7), to: dayAgo(-1), by: "key", step: "total", keyIds: [keyId], limit: 1_000 },
  ...more,
});

/** What a key used, in all: requests, answers and input. */
async function totalOf(store: Store, keyId: string, more: Partial<UsageQuestion> = {}) {
  const [row] = await readUsage(store.db, ask(keyId, more));
  return [row?.requests, row?.figures.calls, row?.figures.input];
}

const rowsOf = async (store: Store, table: string, keyId: string) =>
  Number(
    (
      await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)} where key_id = ${keyId}`.execute(
        store.db,
      )
    ).rows[0]?.n,
  );

describeNightlyOnEachEngine("What was counted by five minutes", (store) => {
  test("is the same before it is summed up, after it, and however often that happens", async () => {
    const keyId = unique("key");
    const slots = [
      dayAgo(5),
      dayAgo(5) + SLOT,
      dayAgo(5) + 3 * HOUR,
      dayAgo(2) + HOUR,
      Date.now() - (Date.now() % SLOT),
    ];
    for (const slot of slots) {
      await addTokens(store(), count(keyId, slot, {}, 10), count(keyId, slot, { model: "claude" }, 1));
      await addRequests(store(), keyId, slot, 3);
    }
    const expected = [15, 10, 55];
    expect(await totalOf(store(), keyId)).toEqual(expected);
    expect(await rollUp(store())).toBeGreaterThan(0);
    expect(await totalOf(store(), keyId)).toEqual(expected);
    expect(await rollUp(store())).toBe(0);
    expect(await totalOf(store(), keyId)).toEqual(expected);
    expect(await rowsOf(store(), "key_token_hours", keyId)).toBe(6);
    expect(await rowsOf(store(), "key_token_days", keyId)).toBe(4);
    const days = await readUsage(store().db, ask(keyId, { step: "day" }));
    expect(days.map(({ at, requests, figures: { input } }) => [at, requests, input])).toEqual([
      [dayAgo(5), 9, 33],
      [dayAgo(2), 3, 11],
      [dayAgo(0), 3, 11],
    ]);
    const hours = await readUsage(store().db, ask(keyId, { step: "hour", to: dayAgo(4) }));
    expect(hours.map(({ at, figures: { input } }) => [at, input])).toEqual([
      [dayAgo(5), 22],
      [dayAgo(5) + 3 * HOUR, 11],
    ]);
  });

  test("counts once where it comes late, for an hour and a day that are summed up already", async () => {
    const keyId = unique("key");
    await addTokens(store(), count(keyId, dayAgo(3)));
    await addRequests(store(), keyId, dayAgo(3), 1);
    await rollUp(store());
    await addTokens(store(), count(keyId, dayAgo(3), {}, 5), count(keyId, dayAgo(3) + SLOT, {}, 7));
    await addRequests(store(), keyId, dayAgo(3), 2);
    const expected = [3, 3, 13];
    expect(await totalOf(store(), keyId), "before it is summed up").toEqual(expected);
    await rollUp(store());
    expect(await totalOf(store(), keyId), "after it").toEqual(expected);
    expect(await totalOf(store(), keyId, { to: dayAgo(2) }), "by days alone").toEqual(expected);
  });

  test("is right at every moment while it is written and several processes sum it up", async () => {
    const keyId = unique("key");
    let written = 0;
    const write = async () => {
      for (let i = 0; i < 40; i++) {
        await addTokens(store(), count(keyId, dayAgo(4) + (i % 5) * SLOT));
        written++;
      }
    };
    let isOver = false;
    const sum = async () => {
      while (!isOver) await rollUp(store());
    };
    const watch = async () => {
      while (!isOver) {
        const least = written;
        const [, calls = 0] = await totalOf(store(), keyId);
        expect(calls).toBeGreaterThanOrEqual(least);
        expect(calls).toBeLessThanOrEqual(written + 1);
      }
    };
    const rest = [sum(), sum(), watch()];
    await write().finally(() => {
      isOver = true;
    });
    await Promise.all(rest);
    await rollUp(store());
    expect(await totalOf(store(), keyId, { to: dayAgo(3) })).toEqual([0, 40, 40]);
  });

  test("is as it was where summing up is broken off", async () => {
    const keyId = unique("key");
    await addTokens(store(), count(keyId, dayAgo(3)));
    await sql`alter table key_token_hours add constraint broken check (key_id <> ${sql.lit(keyId)})`.execute(
      store().db,
    );
    await expect(rollUp(store())).rejects.toThrow();
    expect(await totalOf(store(), keyId)).toEqual([0, 1, 1]);
    await sql`alter table key_token_hours drop constraint broken`.execute(store().db);
    await rollUp(store());
    expect(await totalOf(store(), keyId, { to: dayAgo(2) })).toEqual([0, 1, 1]);
  });

  test("has requests under the team of their key, also once it is revoked, and tokens under the team they were counted for", async () => {
    const team = await makeTeam(store());
    const { key } = await reserveKey(store(), team);
    await addRequests(store(), key.id, dayAgo(2), 4);
    await addTokens(store(), count(key.id, dayAgo(2), { teamId: team.teamId }));
    await sql`update keys set state = 'revoked' where id = ${key.id}`.execute(store().db);
    const ofTeam = ask(key.id, { by: "team", keyIds: undefined, teamIds: [team.teamId] });
    const read = async () =>
      (await readUsage(store().db, ofTeam)).map(({ group, requests, figures: { calls } }) => [group, requests, calls]);
    expect(await read()).toEqual([[team.teamId, 4, 1]]);
    await rollUp(store());
    expect(await read()).toEqual([[team.teamId, 4, 1]]);
  });

  test("of a key that names ever other models takes a bounded number of rows, and no answer is lost", async () => {
    const keyId = unique("key");
    const counts = Array.from({ length: 200 }, (_, i) =>
      count(keyId, dayAgo(3) + (i % 12) * SLOT, { model: `m${String(i).padStart(3, "0")}` }, i === 150 ? 0 : 1),
    );
    await addTokens(store(), ...counts, {
      ...count(keyId, dayAgo(3), { model: "m150" }),
      figures: figures({ calls: 9 }),
    });
    await rollUp(store());
    expect(await rowsOf(store(), "key_token_hours", keyId)).toBe(65);
    expect(await rowsOf(store(), "key_token_days", keyId)).toBeLessThanOrEqual(65);
    expect(await totalOf(store(), keyId)).toEqual([0, 209, 199]);
    const models = await readUsage(store().db, ask(keyId, { by: "model" }));
    expect(models.map(({ group }) => group)).toContain("m150");
  });

  test("b127: is summed up also where nothing ran for so long that it would be deleted, and what comes late changes no sum then", async () => {
    const keyId = unique("key");
    const slot = dayAgo(50);
    await addTokens(store(), count(keyId, slot), count(keyId, slot + 3 * HOUR));
    await addRequests(store(), keyId, slot, 3);
    await prune(store(), 90 * DAY);
    await rollUp(store());
    const expected = [3, 2, 2];
    const all = { from: dayAgo(60), to: dayAgo(40), step: "day" } as const;
    expect(await totalOf(store(), keyId, all)).toEqual(expected);
    await prune(store(), 90 * DAY);
    await rollUp(store());
    await prune(store(), 90 * DAY);
    for (const table of ["key_tokens", "key_requests", "key_token_hours", "key_request_hours"]) {
      expect([table, await rowsOf(store(), table, keyId)]).toEqual([table, 0]);
    }
    expect(await totalOf(store(), keyId, all)).toEqual(expected);
    await addTokens(store(), count(keyId, slot + SLOT));
    await rollUp(store());
    await prune(store(), 90 * DAY);
    expect(await rowsOf(store(), "key_tokens", keyId)).toBe(0);
    expect(await totalOf(store(), keyId, all)).toEqual(expected);
  });

  test("is summed up in batches", async () => {
    const keyId = unique("key");
    await sql`insert into key_requests (key_id, slot, scope, count)
      select ${keyId}, to_timestamp(${dayAgo(6)}::float8 / 1000) + n * interval '5 minutes', s, 1
      from generate_series(0, 1151) n, unnest(array['a', 'b', 'c']) s`.execute(store().db);
    expect(await rollUp(store())).toBeGreaterThanOrEqual(3_456);
    expect(await rowsOf(store(), "key_request_hours", keyId)).toBe(96 * 3);
    expect(await totalOf(store(), keyId)).toEqual([3_456, 0, 0]);
  });

  test("of the present hour is summed up by none: it is read where it was counted", async () => {
    const keyId = unique("key");
    await addTokens(store(), count(keyId, Date.now() - (Date.now() % SLOT)));
    await rollUp(store());
    expect(await rowsOf(store(), "key_token_hours", keyId)).toBe(0);
    expect(await totalOf(store(), keyId, { from: dayAgo(0) })).toEqual([0, 1, 1]);
  });
});

describeNightlyOnEachEngine("Requests and tokens", (store) => {
  test("are kept by hour for 40 days, and by day as long as is configured", async () => {
    const keyId = unique("key");
    const figureNames = sql.join(TOKEN_FIGURES.map((name) => sql.ref(name)));
    const ones = sql.join(TOKEN_FIGURES.map(() => sql`1`));
    for (const table of ["key_token_hours", "key_token_days"]) {
      await sql`insert into ${sql.table(table)} (key_id, slot, gateway_id, route_id, model, team_id, ${figureNames})
        select ${keyId}, to_timestamp(${dayAgo(0)}::float8 / 1000) - d * interval '1 day', 'gw', '', 'gpt', 'team_a', ${ones}
        from unnest(array[500, 399, 300, 41, 39]) d`.execute(store().db);
    }
    await rollUp(store());
    expect((await prune(store(), 90 * DAY)).hours).toBe(4);
    expect(await rowsOf(store(), "key_token_hours", keyId)).toBe(1);
    expect(await rowsOf(store(), "key_token_days", keyId)).toBe(5);
    expect(await pruneUsage(store(), 400 * DAY)).toBe(1);
    expect(await rowsOf(store(), "key_token_days", keyId)).toBe(4);
  });

  test("are read page by page", async () => {
    const team = unique("team");
    const keys = Array.from({ length: 5 }, () => unique("key"));
    for (const keyId of keys) await addTokens(store(), count(keyId, dayAgo(1), { teamId: team }));
    const question = ask("", { keyIds: undefined, teamIds: [team], step: "day", limit: 2 });
    const seen: string[] = [];
    for (let after: UsageQuestion["after"]; ; ) {
      const page = await readUsage(store().db, { ...question, after });
      seen.push(...page.map(({ group }) => group));
      after = page.at(-1);
      if (after === undefined) break;
    }
    expect(seen).toEqual(keys.toSorted());
  });
});
