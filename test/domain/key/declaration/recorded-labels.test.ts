import { expect, test } from "vitest";
import { recordedLabels } from "../../../../domain/key/declaration/recorded-labels.ts";

test("labels are kept by name, whatever their order, as far as there is room", () => {
  expect(Object.entries(recordedLabels({ unit: "b", "example.com/cost-center": "4711", empty: "" }))).toEqual([
    ["empty", ""],
    ["example.com/cost-center", "4711"],
    ["unit", "b"],
  ]);
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`label-${1_000 + i}`, "v".repeat(54)]));
  const kept = recordedLabels(many);
  expect(Object.keys(kept)).toEqual(Object.keys(many).slice(0, 64));
});
