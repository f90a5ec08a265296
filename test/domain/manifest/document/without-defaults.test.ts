import { expect, test } from "vitest";
import { SCHEMAS } from "../../../../domain/kinds/generated/schemas.ts";
import { withoutDefaults } from "../../../../domain/manifest/document/without-defaults.ts";

const SPEC = SCHEMAS.PlatformKey.properties?.spec;
const SECRET = { dataKey: "api-key", creationPolicy: "Owner", onLost: "Rotate", onTampered: "Rotate" };

test.each([
  ["what is there by default", { state: "Active", source: { type: "Generate" }, secret: SECRET }, {}],
  ["defaults beside what was written", { secret: { ...SECRET, name: "mine" } }, { secret: { name: "mine" } }],
  ["an empty list by default", { restartTargets: [], deletionProtection: false }, {}],
  [
    "defaults within a list",
    { budgets: [{ tokens: 5, period: "Day", timeZone: "UTC", onExhausted: "Alert" }] },
    { budgets: [{ tokens: 5, period: "Day", onExhausted: "Alert" }] },
  ],
])("A manifest is shown without %s", (_what, spec, written) => {
  expect(withoutDefaults(spec, SPEC)).toEqual(written);
});

test("A manifest keeps what differs from a default, what has none, and what no schema knows", () => {
  const spec = {
    ...{ state: "Suspended", deletionProtection: true, scopes: [], unknown: { a: null } },
    source: { type: "ImportSecret", secretRef: { name: "old" } },
  };
  expect(withoutDefaults(spec, SPEC)).toEqual(spec);
});
