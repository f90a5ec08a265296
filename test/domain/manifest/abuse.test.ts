import { describe, expect, test } from "vitest";
import { SCOPES } from "../../../domain/access/scopes.ts";
import { CLIMBING, SCOPES_OUTSIDE_THE_LIST } from "./abuse-cases.ts";
import { errorsOf, key, manifest, readText, warningsOf } from "./read.ts";

describe("b67: what climbs out of its place is refused by the schema", () => {
  test.each(CLIMBING)("%s", (_, text) => {
    expect(errorsOf(text)).toEqual([expect.stringMatching(/"(\.\.|\.\.\/[ax])" is no /)]);
  });

  test("a Secret of another namespace cannot even be named", () => {
    expect(errorsOf(key("{ preset: MCPReadOnly, secret: { name: x, namespace: other } }"))).toEqual([
      expect.stringContaining("spec.secret.namespace: unknown field"),
    ]);
    const imported =
      "{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: x, namespace: other } } }";
    expect(errorsOf(key(imported))).toEqual([
      expect.stringContaining("spec.source.secretRef.namespace: unknown field"),
    ]);
  });
});

test.each(["kube-system", "kube-public", "kube-node-lease"])("b96: no team may claim %s", (namespace) => {
  expect(errorsOf(manifest("PlatformTeam", `{ namespaces: [mine, ${namespace}] }`, { name: "a" }))).toEqual([
    expect.stringContaining("spec.namespaces[1]: is one of kube-system, kube-public and kube-node-lease"),
  ]);
});

describe("b70: what only the cluster may write, in a manifest,", () => {
  const text = `${manifest("PlatformKey", "{ preset: MCPReadOnly }", {
    name: "a",
    namespace: "team-a",
    uid: "0",
    generation: 9,
    finalizers: ["keyplane.dev/finalizer"],
    ownerReferences: [{ kind: "PlatformKey", name: "other", uid: "1" }],
  })}status: { team: other, keyID: key_stolen, effectiveScopes: [memory:write] }\n`;

  test("is warned of", () => {
    expect(errorsOf(text)).toEqual([]);
    expect(warningsOf(text).map((warning) => warning.split(":")[0])).toEqual([
      "metadata.uid",
      "metadata.generation",
      "metadata.finalizers",
      "metadata.ownerReferences",
      "status",
    ]);
  });

  test("is not read", () => {
    const plain = manifest("PlatformKey", "{ preset: MCPReadOnly }");
    expect(readText(text).manifests).toEqual(readText(plain).manifests);
  });

  test("a team cannot be claimed in a key's spec", () => {
    expect(errorsOf(key("{ preset: MCPReadOnly, team: other }"))).toEqual([
      expect.stringContaining("spec.team: unknown field"),
    ]);
  });
});

describe("b72: scopes are those of the list and no others", () => {
  test.each(SCOPES_OUTSIDE_THE_LIST)("%s is refused", (_, scopes, says) => {
    expect(errorsOf(key(`{ scopes: ${scopes} }`))).toEqual(says.map((start) => expect.stringContaining(start)));
  });

  test("10,000 entries are refused at once, with no more faults than a reader can use", () => {
    const errors = errorsOf(key(`{ scopes: [${"memory:read,".repeat(10_000)}] }`));
    expect(errors).toEqual(["spec.scopes: has more than 8 entries: remove some"]);
    expect(errorsOf(key(`{ scopes: [${"root,".repeat(10_000)}] }`)).length).toBeLessThanOrEqual(21);
  });

  test("every scope of the list is accepted", () =>
    expect(errorsOf(key(`{ scopes: [${SCOPES.join(", ")}] }`))).toEqual([]));
});
