import fc from "fast-check";
import { expect, test } from "vitest";
import {
  isScope,
  PRESETS,
  presetOf,
  productScopes,
  SCOPES,
  type Scope,
  type ScopeSet,
  scopeBit,
  scopeSet,
} from "../../../domain/access/scopes.ts";

/** The scopes of a set, in the catalogue's order. */
function scopesOf(set: ScopeSet): Scope[] {
  return SCOPES.filter((scope) => (set & scopeBit(scope)) !== 0);
}

test("a set of scopes and its bits say the same", () => {
  fc.assert(
    fc.property(fc.subarray([...SCOPES]), (scopes) => {
      expect(scopesOf(scopeSet(scopes))).toEqual(scopes);
      expect(scopeSet([...scopes, ...scopes].reverse())).toBe(scopeSet(scopes));
    }),
  );
});

test("b72: there are five scopes, and nothing that resembles one is another", () => {
  expect(SCOPES.filter(isScope)).toEqual([...SCOPES]);
  for (const text of ["*", "memory:*", "memory", "Memory:read", "memory:read ", "gateway:", "admin", "", "__proto__"]) {
    expect(isScope(text)).toBe(false);
  }
});

test("each scope belongs to exactly one product", () => {
  expect(scopesOf(productScopes("gateway"))).toEqual([
    ...["gateway:generate", "gateway:embed", "gateway:routes", "gateway:files"],
  ]);
  expect(scopesOf(productScopes("memory"))).toEqual(["memory:read", "memory:write"]);
  expect(productScopes("gateway") & productScopes("memory")).toBe(0);
});

test("the presets are those of the spec", () => {
  expect(PRESETS).toEqual({
    MCPReadOnly: ["memory:read"],
    MCPReadWrite: ["memory:read", "memory:write"],
    GatewayDefault: ["gateway:generate", "gateway:embed", "gateway:routes", "memory:read"],
  });
});

test("scopes are those of a preset in any order, and of none with one more or one less", () => {
  expect(presetOf(["memory:write", "memory:read"])).toBe("MCPReadWrite");
  expect(presetOf(["memory:read", "memory:read"])).toBeUndefined();
  for (const scopes of [[], ["memory:write"], [...PRESETS.GatewayDefault, "memory:write"]]) {
    expect(presetOf(scopes)).toBeUndefined();
  }
});
