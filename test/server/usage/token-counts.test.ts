import { describe, expect, test } from "vitest";
import { NO_FIGURES, type TokenCount } from "../../../domain/usage/token-count.ts";
import { type AnswerUsage, NO_TOKENS } from "../../../domain/usage/tokens.ts";
import { createLog } from "../../../runtime/log.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { CountBuffer } from "../../../server/usage/count-buffer.ts";
import { TOKENS, TokenCounter } from "../../../server/usage/token-counts.ts";
import type { Store } from "../../../store/database/store.ts";
import { prune } from "../../../store/retention.ts";
import { readUsage } from "../../../store/usage/read-usage.ts";
import { rollUp } from "../../../store/usage/roll-up.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { HOUR, NOW, unique } from "../../store/fixtures.ts";
import { indexedKey, keyRecord } from "../harness.ts";
import { awayStore } from "./away-store.ts";

const SLOT = 5 * 60_000;

function keyOf(keyId: string, index = new KeyIndex(), teamId = "team-a") {
  const digest = keyId.padEnd(32, "-");
  index.applyKey(keyId, [indexedKey(digest, keyRecord({ keyId, teamId }))]);
  const found = index.findKey(digest);
  if (found === undefined) throw new Error("a key that was added is not there");
  return found;
}

/** What a key used since a moment, by model, those of most answers first. */
async function readModels(store: Store, keyId: string, from: number, limit = 10) {
  const span = { from, to: Date.now() + HOUR, bySlots: true };
  const question = { ...span, by: "model", step: "total", keyIds: [keyId], isMostFirst: true, limit } as const;
  return (await readUsage(store.db, question)).map(({ group, figures }) => ({ model: group, figures }));
}

function answer(model: string | undefined, usage: Partial<AnswerUsage> = {}, asked: { routeId?: string } = {}) {
  const reported = {
    tokens: { ...NO_TOKENS, input: 3, output: 2 },
    model,
    ending: "reported",
    isDoubtful: false,
  } as const;
  return { gatewayId: "gw_a", routeId: asked.routeId, askedModel: undefined, usage: { ...reported, ...usage } };
}

describe("Tokens", () => {
  test("are counted by key, five minutes, gateway, route and model", () => {
    const index = new KeyIndex();
    const [a, b] = [keyOf("key_a", index), keyOf("key_b", index)];
    const reported: unknown[] = [];
    const counter = new TokenCounter((...each) => reported.push([each[0], each[1].ending]));
    counter.count(a, answer("gpt"), NOW);
    counter.count(a, answer("gpt", { ending: "cut", isDoubtful: true }), NOW + SLOT - 1);
    counter.count(a, answer("gpt"), NOW + SLOT);
    counter.count(a, answer("gpt", {}, { routeId: "rt" }), NOW + SLOT);
    counter.count(b, answer("claude"), NOW + SLOT);
    counter.count(keyRecord(), answer("gpt"), NOW);
    const counts = [...counter.drain().values()];
    expect(
      counts.map(({ keyId, slot, routeId, model, figures }) => [keyId, slot - NOW, routeId, model, figures.calls]),
    ).toEqual([
      ["key_a", 0, "", "gpt", 2],
      ["key_a", SLOT, "", "gpt", 1],
      ["key_a", SLOT, "rt", "gpt", 1],
      ["key_b", SLOT, "", "claude", 1],
    ]);
    expect(counts[0]).toMatchObject({ teamId: "team-a", figures: { input: 6, output: 4, cut: 1, doubtful: 1 } });
    expect(counter.drain().size).toBe(0);
    expect(reported).toContainEqual(["gw_a", "cut"]);
  });

  test("of a key from before its table was read anew count with those from after, and have no more models", () => {
    const [before, later] = [keyOf("key_a"), keyOf("key_a", new KeyIndex(0, new KeyIndex()))];
    const counter = new TokenCounter(() => {});
    for (let i = 0; i < 100; i++) counter.count(i % 2 === 0 ? before : later, answer(`m${i}`), NOW);
    const counts = [...counter.drain().values()];
    expect(counts).toHaveLength(65);
    expect(counts.find(({ model }) => model === "other")?.figures.calls).toBe(36);
  });

  test("of more than 64 models of a key within five minutes are counted together", () => {
    const counter = new TokenCounter(() => {});
    const index = new KeyIndex();
    const [a, b] = [keyOf("key_a", index), keyOf("key_b", index)];
    for (let i = 0; i < 100; i++) counter.count(a, answer(`m${i}`), NOW);
    counter.count(a, answer("m3"), NOW);
    counter.count(b, answer("m99"), NOW);
    const models = [...counter.drain().values()].map(({ keyId, model, figures }) => [keyId, model, figures.calls]);
    expect(models).toHaveLength(66);
    expect(models).toContainEqual(["key_a", "other", 36]);
    expect(models).toContainEqual(["key_a", "m3", 2]);
    expect(models).toContainEqual(["key_b", "m99", 1]);
  });

  test("b213: are counted by their models' names, however many models another team's keys have", () => {
    const index = new KeyIndex();
    const counter = new TokenCounter(() => {});
    for (let i = 0; i < 2_048; i++) {
      const key = keyOf(`key_${i}`, index, "many");
      for (let model = 0; model < 64; model++) counter.count(key, answer(`m${model}`), NOW);
      if (i % 512 === 511) counter.drain();
    }
    counter.count(keyOf("key_few", index, "few"), answer("gpt"), NOW);
    expect([...counter.drain().values()].map(({ keyId, model }) => [keyId, model])).toEqual([["key_few", "gpt"]]);
  });

  test("of more keys and models than are kept from one drain to the next are counted all the same", () => {
    const index = new KeyIndex();
    const keys = Array.from({ length: 300 }, (_, i) => keyOf(`key_${i}`, index));
    const counter = new TokenCounter(() => {});
    for (let drain = 0; drain < 3; drain++) {
      const models = drain < 2 ? 60 : 1;
      for (const key of keys) for (let i = 0; i < models; i++) counter.count(key, answer(`m${i}`), NOW);
      const counts = [...counter.drain().values()];
      expect(counts).toHaveLength(300 * models);
      expect(counts.every(({ figures }) => figures.calls === 1 && figures.input === 3)).toBe(true);
    }
  });

  test("are counted by no name that is too long, of other letters, or may be a key, and by the one asked for", () => {
    const counter = new TokenCounter(() => {});
    const key = keyOf("key_a");
    for (const name of ["x".repeat(129), "modèle", "a b", "\ud800", "\0", `inf_${"a".repeat(40)}`, ""]) {
      counter.count(key, answer(name), NOW);
    }
    counter.count(key, answer(undefined), NOW);
    counter.count(key, { ...answer(undefined), askedModel: "asked" }, NOW);
    expect([...counter.drain().values()].map(({ model, figures }) => [model, figures.calls])).toEqual([
      ["other", 7],
      ["unknown", 1],
      ["asked", 1],
    ]);
  });
});

describeNightlyOnEachEngine("Counts of tokens", (store) => {
  test("are added to those of the same five minutes, beyond what 32 bits hold, and read by model", async () => {
    const keyId = unique("key");
    const key = keyOf(keyId);
    const counter = new TokenCounter(() => {});
    const buffer = new CountBuffer(TOKENS, store(), createLog("silent"), () => {});
    const many = { tokens: { ...NO_TOKENS, cached: 1e9, cache_write_1h: 7 } };
    for (let i = 0; i < 5; i++) {
      counter.count(key, answer("gpt", many), NOW);
      counter.count(key, answer("gpt", many, { routeId: "rt" }), NOW + SLOT);
      buffer.add(counter.drain());
      await buffer.write();
    }
    counter.count(key, answer("claude"), NOW);
    counter.count(key, answer("old"), NOW - SLOT);
    buffer.add(counter.drain());
    await buffer.write();
    const read = await readModels(store(), keyId, NOW);
    expect(read.map(({ model }) => model)).toEqual(["gpt", "claude"]);
    expect(read[0]?.figures).toMatchObject({ calls: 10, cached: 1e10, cache_write_1h: 70, input: 0, doubtful: 0 });
    expect(await readModels(store(), keyId, NOW, 1)).toHaveLength(1);
  });

  test("b213: of a team with few wait until the database is back, however many another team adds", async () => {
    const [away, log] = [awayStore(store()), createLog("silent")];
    let lost = 0;
    const counts = { ...TOKENS, maxWaiting: 2_000 };
    const buffer = new CountBuffer(counts, away.store, log, () => lost++);
    const [few, many] = [unique("few"), unique("many")];
    const count = (teamId: string, model: string): [string, TokenCount] => [
      `${teamId} ${model}`,
      { keyId: teamId, slot: NOW, gatewayId: "gw_a", routeId: "", model, teamId, figures: { ...NO_FIGURES, calls: 1 } },
    ];
    const add = (teamId: string, from: number, to: number) =>
      buffer.add(new Map(Array.from({ length: to - from }, (_, i) => count(teamId, `m${from + i}`))));
    add(few, 0, 5);
    add(many, 0, counts.maxWaiting);
    add(few, 3, 10);
    await buffer.write();
    away.database.isAway = false;
    await buffer.write();
    const calls = async (keyId: string) =>
      (await readModels(store(), keyId, NOW, counts.maxWaiting)).map(({ figures }) => figures.calls);
    expect(await calls(few)).toEqual([2, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect(await calls(many)).toHaveLength(counts.maxWaiting - 10);
    expect(lost).toBe(10);
  });

  test("are kept for eight days", async () => {
    const keyId = unique("key");
    const key = keyOf(keyId);
    const counter = new TokenCounter(() => {});
    for (const day of [9, 7]) counter.count(key, answer(`m${day}`), Date.now() - day * 24 * HOUR);
    await TOKENS.write(store(), counter.drain(), () => {});
    await rollUp(store());
    expect((await prune(store(), 90 * 24 * HOUR)).tokens).toBeGreaterThanOrEqual(1);
    expect((await readModels(store(), keyId, 0)).map(({ model }) => model)).toEqual(["m7"]);
  });
});
