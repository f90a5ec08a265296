import { describe, expect, test } from "vitest";
import { foldStatement, nearness, sketchOf } from "../../../domain/memory/near-duplicate.ts";

describe("near-duplicates of a statement", () => {
  test.each([
    ["Deployments roll out on Tuesdays.", "deployments  roll out on TUESDAYS"],
    ["Crème brûlée, s'il vous plaît!", "creme brulee s il vous plait"],
    ["東京の会議は月曜日です", "東京の会議は月曜日です。"],
    ["🙂", " 🙂\n"],
  ])("%s is the same statement as %s", (one, other) => {
    expect(nearness(one, other)).toBe(1);
    expect(sketchOf(one)).toEqual(sketchOf(other));
  });

  test.each([
    ["The deploy freeze ends on Monday.", "The deploy freeze ended on Monday."],
    ["Anna prefers tea to coffee in the morning.", "Anna prefers tea over coffee in the morning."],
    ["Die Rotation der Schlüssel läuft jede Nacht.", "Die Rotation der Schlüssel lief jede Nacht."],
    ["Ключи меняются каждую ночь в дата-центре.", "Ключи менялись каждую ночь в дата-центре."],
  ])("%s is alike to %s, and found by a band", (one, other) => {
    expect(nearness(one, other)).toBeGreaterThanOrEqual(0.7);
    expect(nearness(one, other)).toBeLessThan(1);
    const { bands } = sketchOf(other);
    expect(sketchOf(one).bands.some((band) => bands.includes(band))).toBe(true);
  });

  test.each([
    ["The health check of payments is on port 8080.", "The health check of payments is on port 8081."],
    ["Build 1041 failed with exit code 137.", "Build 1042 failed with exit code 137."],
    ["The kettle is on.", "Anna is on call in May."],
    ["🙂", "🙃"],
    ["word ".repeat(2_000), "word ".repeat(1_000)],
  ])("%.60s is another statement than %.60s", (one, other) => {
    expect(nearness(one, other)).toBeUndefined();
  });

  test("b83: a letter with a million marks is folded in a number of steps that grows with them", () => {
    expect(foldStatement(`a${"\u0301".repeat(500_000)}${"\u0323".repeat(500_000)}`)).toBe("a");
  });
});
