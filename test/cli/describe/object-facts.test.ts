import { expect, test } from "vitest";
import { factsOf } from "../../../cli/describe/object-facts.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const key = { kind: "PlatformKey", metadata: { namespace: "dev", name: "agent" }, json: {} } as const;

test("a key is described with its owner, and without a word of one that it does not have", () => {
  expect(factsOf({ ...key, spec: { owner: "ann@example.com" } }, NOW)).toContainEqual(["Owner", "ann@example.com"]);
  expect(factsOf({ ...key, spec: {} }, NOW).map(([name]) => name)).not.toContain("Owner");
});
