import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { adviceManifest } from "../../../../domain/usage/advice/advice-manifest.ts";
import { advise } from "../../../../domain/usage/advice/advise.ts";
import type { KeyUse } from "../../../../domain/usage/advice/key-use.ts";
import { answers, FROM, useOf } from "./uses.ts";

const key = { id: "key_0abc", namespace: "research", name: "agent", notes: [] };

function manifest(use: KeyUse, given: Partial<typeof key> & { spec?: object } = {}): string {
  return adviceManifest({ ...key, spec: use.spec, ...given }, advise(use), use);
}

test("advice is a manifest, and says before each field why", () => {
  const spec = { preset: "MCPReadWrite", rotation: { interval: "720h" } } as const;
  const text = manifest(useOf({ spec }, { "memory:read": 4 }));
  expect(parse(text)).toMatchObject({
    apiVersion: "keyplane.dev/v1alpha1",
    kind: "PlatformKey",
    metadata: { name: "agent", namespace: "research" },
    spec: { preset: "MCPReadOnly", rotation: { interval: "720h" } },
  });
  expect(text).toMatch(
    /^# PlatformKey research\/agent \(key_0abc\): what would have been enough from 2026-10-26T00:00:00Z/,
  );
  expect(text).toMatch(
    /\n {2}# Preset MCPReadWrite stands for .* Not needed: memory:write\.\n {2}preset: MCPReadOnly\n/,
  );
  expect(text).toContain("# spec.libraryAccess: No library is known");
});

test("what was not used, and what is not known for long enough, is comments alone", () => {
  for (const use of [useOf({ lastUsedAt: null }), useOf({ madeAt: FROM + 1 }, { "memory:read": 1 })]) {
    const text = manifest(use);
    expect(text).toMatch(/^# PlatformKey research\/agent .*\n$/);
    expect(parse(text)).toBeNull();
  }
});

const HOSTILE = [
  "x\n---\napiVersion: v1\nkind: Secret\n",
  "x\r\nspec: { scopes: [gateway:generate] }",
  "a\u0085b: c",
  "a\u2028b: c\u2029d: e",
  "x #: [{&*!|>'\"%@`",
  "\u202e\u0007\u001b[31m",
  "--- !!js/function",
  "yes",
  "0x1f",
  "y".repeat(4_000),
];

describe("b134: a hostile name", () => {
  test.each(HOSTILE)("%j of a model that has answered stays in a comment of one line", (model) => {
    const use = useOf(
      { spec: { preset: "GatewayDefault" }, answers: [answers({ model })] },
      { "gateway:generate": 10 },
    );
    const text = manifest(use);
    for (const version of ["1.1", "1.2"] as const) {
      const documents = parseAllDocuments(text, { version });
      expect(documents).toHaveLength(1);
      expect(Object.keys(parse(text, { version }))).toEqual(["apiVersion", "kind", "metadata", "spec"]);
      expect(Object.keys(parse(text, { version }).spec).toSorted()).toEqual(["gatewayRef", "rateLimit", "scopes"]);
    }
    expect(text).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  });

  test.each(HOSTILE)("%j of a route is text, and nothing else, in the manifest", (route) => {
    const use = useOf({ spec: {}, answers: [answers({ route })] }, { "gateway:generate": 10 });
    for (const version of ["1.1", "1.2"] as const) {
      expect(parse(manifest(use), { version }).spec.allowedModels).toEqual([route]);
    }
  });

  test.each(HOSTILE)("%j of a key or a note ends no comment", (name) => {
    const text = manifest(useOf({ lastUsedAt: null }), { name });
    expect(text.trimEnd().split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(1);
    const used = manifest(useOf({ spec: { preset: "MCPReadWrite" } }, { "memory:read": 1 }), { name });
    expect(parse(used).metadata.name).toBe(name);
  });

  test("that holds a key is not repeated", () => {
    const secret = `inf_${"A".repeat(43)}`;
    const use = useOf(
      { spec: { preset: "GatewayDefault" }, answers: [answers({ model: secret })] },
      { "gateway:generate": 1 },
    );
    expect(manifest(use)).not.toContain("A".repeat(20));
  });
});
