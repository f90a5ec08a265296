import { expect, test } from "vitest";
import { PRESETS } from "../../../../domain/access/scopes.ts";
import { effectiveScopes, secretTarget } from "../../../../domain/key/declaration/effective.ts";
import type { Spec } from "../../../../domain/kinds/kinds.ts";
import { key, storedSpec } from "../../manifest/read.ts";

const specOf = (text: string) => storedSpec(key(text)) as Spec<"PlatformKey">;

test("a preset comes to its scopes, a list to itself", () => {
  for (const [preset, scopes] of Object.entries(PRESETS)) {
    expect(effectiveScopes(specOf(`{ preset: ${preset} }`))).toEqual(scopes);
  }
  expect(effectiveScopes(specOf("{ scopes: [memory:write, gateway:embed] }"))).toEqual([
    "memory:write",
    "gateway:embed",
  ]);
});

test("the Secret is named after the key, its data key api-key, unless the declaration says otherwise", () => {
  expect(secretTarget("reader", specOf("{ preset: MCPReadOnly }"))).toEqual({ name: "reader", dataKey: "api-key" });
  const named = specOf("{ preset: MCPReadOnly, secret: { name: s, dataKey: token } }");
  expect(secretTarget("reader", named)).toEqual({ name: "s", dataKey: "token" });
});
