import { expect, test } from "vitest";
import { NO_FIGURES } from "../../../domain/usage/token-count.ts";
import { change } from "../../../store/database/change.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { librariesKnownSince } from "../../../store/keys/uses/key-libraries.ts";
import { networksKnownSince } from "../../../store/keys/uses/key-networks.ts";
import { addRequestCounts } from "../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../store/keys/uses/token-counts.ts";
import { deregisterReplica, heartbeat, registerReplica, removeAllReplicas } from "../../../store/replicas/replicas.ts";
import { answersOf, peakOf, requestsByScope, usageCountedSince } from "../../../store/usage/key-use.ts";
import { rollUp } from "../../../store/usage/roll-up.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { keyring } from "../../server/key-index/replica-fixtures.ts";
import { gatewayDraft, HOUR, makeTeam, unique } from "../fixtures.ts";

const ignore = () => {};
const DAY = 24 * HOUR;
const SLOT = 5 * 60_000;
const to = Math.ceil(Date.now() / HOUR) * HOUR;
const span = { from: to - 30 * DAY, to };

describeNightlyOnEachEngine("The use of a key", (store) => {
  test("is by scope every request once, whether it is summed up by hour yet or not", async () => {
    const keyId = unique("key");
    const count = (at: number, scope: string, count: number) =>
      addRequestCounts(store(), [{ keyId, slot: at, scope, count }], ignore);
    await count(to - 29 * DAY, "memory:read", 5);
    await count(to - 3 * DAY, "memory:read", 7);
    await count(to - 31 * DAY, "memory:write", 9);
    await rollUp(store());
    await count(to - 3 * DAY, "memory:read", 100);
    await count(to - SLOT, "memory:read", 11);
    await count(to - SLOT, "memory:*", 1);
    expect(Object.fromEntries(await requestsByScope(store().db, keyId, span))).toEqual({
      "memory:read": 123,
      "memory:*": 1,
    });
  });

  test("has the busiest five minutes of the last days, their busiest hour, and that of all", async () => {
    const keyId = unique("key");
    const counts = [
      [to - 20 * DAY, 600],
      [to - 2 * DAY, 40],
      [to - 2 * DAY + SLOT, 60],
      [to - DAY, 70],
    ] as const;
    for (const [slot, count] of counts) {
      await addRequestCounts(store(), [{ keyId, slot, scope: "memory:read", count }], ignore);
      const figures = { ...NO_FIGURES, calls: 1, input: count, output: 1, tool_calls: 1_000 };
      const of = { keyId, slot, gatewayId: "gw", routeId: "", model: "m", teamId: "team" };
      await addTokenCounts(store(), [{ ...of, figures }], ignore);
    }
    const requests = { fiveMinutes: 70, recentHour: 100, hour: 600 };
    const tokens = { fiveMinutes: 71, recentHour: 102, hour: 601 };
    await rollUp(store());
    expect(await peakOf(store().db, "requests", keyId, span)).toEqual(requests);
    expect(await peakOf(store().db, "tokens", keyId, span)).toEqual(tokens);
    const nothing = { fiveMinutes: 0, recentHour: 0, hour: 0 };
    expect(await peakOf(store().db, "requests", unique("key"), span)).toEqual(nothing);
  });

  test("has the answers by gateway, route and model, and how many do not say all of their tokens", async () => {
    const keyId = unique("key");
    const of = { keyId, slot: to - DAY, gatewayId: "gw_gone", model: "m", teamId: "team" };
    const figures = { ...NO_FIGURES, calls: 3, unread: 1, cut: 1 };
    await addTokenCounts(store(), [{ ...of, routeId: "", figures }], ignore);
    await addTokenCounts(store(), [{ ...of, routeId: "rt", figures: { ...NO_FIGURES, calls: 2 } }], ignore);
    expect(await answersOf(store().db, keyId, span)).toEqual({
      withoutTokens: 2,
      answers: [
        { gatewayId: "gw_gone", gateway: null, route: undefined, model: "m", calls: 3 },
        { gatewayId: "gw_gone", gateway: null, route: null, model: "m", calls: 2 },
      ],
    });
  });

  test("b467: has a route's name only where no other route of the gateway has its id", async () => {
    const home = await makeTeam(store());
    const route = (model: string, routeId: string) => ({
      ...{ model, routeId, upstream: "u", upstreamModel: "x", fallbacks: [] },
    });
    const routes = [route("fast", "rt"), route("smart", "rt"), route("own", "rt-own")];
    const gateway = gatewayDraft(home, { routes });
    const { gatewayId } = (await change(store(), null, (tx) => saveGateway(tx, gateway, keyring))).result;
    const keyId = unique("key");
    const of = { keyId, slot: to - DAY, gatewayId, model: "m", teamId: home.teamId };
    for (const [routeId, calls] of [
      ["rt", 2],
      ["rt-own", 1],
    ] as const) {
      await addTokenCounts(store(), [{ ...of, routeId, figures: { ...NO_FIGURES, calls } }], ignore);
    }
    const { answers } = await answersOf(store().db, keyId, span);
    expect(answers.map((one) => one.route)).toEqual([null, "own"]);
  });

  test("is counted since the database keeps hours", async () => {
    const { db } = store();
    const applied = await db.selectFrom("schema_migrations").select("applied_at").execute();
    const since = await usageCountedSince(db);
    expect(applied.map(({ applied_at }) => applied_at.getTime())).toContain(Math.trunc(since));
  });

  test("b185: is not known completely of the time before a server died", async () => {
    const { db } = store();
    const since = async () => [
      await usageCountedSince(db),
      await networksKnownSince(db),
      await librariesKnownSince(db),
    ];
    await registerReplica(store(), "killed");
    const before = await since();
    await deregisterReplica(store(), "killed");
    expect(await since(), "one that has ended in order").toEqual(before);
    await registerReplica(store(), "killed");
    await heartbeat(store(), "killed", { seq: 0, id: null }, Date.now());
    await removeAllReplicas(store());
    const [killedAt] = await since();
    expect(killedAt).toBeGreaterThan(Math.max(...before.map(Number)));
    expect(await since()).toEqual([killedAt, killedAt, killedAt]);
  });
});
