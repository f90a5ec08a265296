import { expect, test } from "vitest";
import { MAX_RECORDED_SPEC, recordedSpec } from "../../../../domain/key/declaration/recorded-spec.ts";
import type { Spec } from "../../../../domain/kinds/kinds.ts";

const source = { type: "Generate" } as const;
const defaults = {
  ...{
    source,
    state: "Active",
    secret: { dataKey: "api-key", creationPolicy: "Owner", onLost: "Rotate", onTampered: "Rotate" },
    restartTargets: [],
    deletionPolicy: "Revoke",
    deletionProtection: false,
  },
} satisfies Spec<"PlatformKey">;

test("what is recorded of a declaration is all of it, but no digest of an imported secret", () => {
  const spec: Spec<"PlatformKey"> = { ...defaults, preset: "MCPReadOnly", rotation: { interval: "720h" } };
  expect(recordedSpec(spec)).toEqual(spec);
  const hash = { sha256: "ab".repeat(32), prefix: "sk-imported1" };
  expect(recordedSpec({ ...spec, source: { type: "ImportHash", hash } })).toEqual({
    ...spec,
    source: { type: "ImportHash" },
  });
});

test("a declaration that is longer than what is recorded is left out whole", () => {
  const spec = (length: number): Spec<"PlatformKey"> => ({ ...defaults, displayName: "x".repeat(length) });
  const length = MAX_RECORDED_SPEC - JSON.stringify(spec(0)).length;
  expect(recordedSpec(spec(length))).toEqual(spec(length));
  expect(recordedSpec(spec(length + 1))).toBeNull();
});

test("c106: a declaration with text that cannot be stored is not recorded", () => {
  const spec = (owner: string): Spec<"PlatformKey"> => ({ ...defaults, owner });
  expect(["a\0", "a\\\0", "a\ud83d"].map((owner) => recordedSpec(spec(owner)))).toEqual([null, null, null]);
  const kept = ["\\u0000", "\u{1f511}", "\u0001"].map(spec);
  expect(kept.map((each) => recordedSpec(each))).toEqual(kept);
});
