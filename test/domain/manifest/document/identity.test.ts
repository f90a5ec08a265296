import { describe, expect, test } from "vitest";
import { formatPath } from "../../../../domain/manifest/document/diagnostic.ts";
import { checkName, checkNamespace, readManifestIdentity } from "../../../../domain/manifest/document/identity.ts";

const KEY = { apiVersion: "keyplane.dev/v1beta1", kind: "PlatformKey", metadata: { name: "agent", namespace: "dev" } };

function read(more: object) {
  const { kind, identity, complaints } = readManifestIdentity({ ...KEY, ...more });
  return { kind, identity, faults: complaints.map(({ path, message }) => `${formatPath(path)}: ${message}`) };
}
const metadata = (more: object) => read({ metadata: { ...KEY.metadata, ...more } });

describe("what a manifest calls itself", () => {
  test("is its kind, namespace and name, by each version of the API", () => {
    const identity = { kind: "PlatformKey", namespace: "dev", name: "agent" };
    for (const version of ["v1alpha1", "v1beta1"]) {
      expect(read({ apiVersion: `keyplane.dev/${version}` })).toEqual({ kind: "PlatformKey", identity, faults: [] });
    }
  });

  test("of a Secret goes by the core API, and its name may be as long as Kubernetes takes it", () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s".repeat(253), namespace: "dev" } };
    expect(read(secret)).toMatchObject({ kind: "Secret", faults: [] });
    expect(read({ ...secret, apiVersion: KEY.apiVersion }).identity).toBeUndefined();
  });

  test("of a PlatformTeam has no namespace, since it belongs to the whole cluster", () => {
    const team = { kind: "PlatformTeam", metadata: { name: "research" } };
    expect(read(team)).toMatchObject({ identity: { namespace: "", name: "research" }, faults: [] });
    const { identity, faults } = read({ ...team, metadata: KEY.metadata });
    expect(identity).toBeUndefined();
    expect(faults).toEqual(["metadata.namespace: a PlatformTeam belongs to the whole cluster: remove namespace"]);
  });
});

describe("a manifest of which it is unknown what it is", () => {
  test.each([
    ["without a kind", { kind: undefined }, "kind: name the kind"],
    ["of a misspelt kind", { kind: "PlatformKeys" }, 'kind: unknown kind "PlatformKeys": did you mean PlatformKey?'],
    ["of another's kind", { kind: "Deployment" }, "are read here; move it to another folder"],
    ["without an apiVersion", { apiVersion: undefined }, "apiVersion: missing apiVersion: write apiVersion: "],
    ["of another apiVersion", { apiVersion: "v1" }, 'apiVersion: unknown apiVersion "v1" of PlatformKey: write '],
  ])("%s has that one fault, and nothing else of it is judged", (_, more, fault) => {
    const { kind, identity, faults } = read({ metadata: { nme: 1 }, ...more });
    expect([kind, identity, faults.length]).toEqual([undefined, undefined, 1]);
    expect(faults[0]).toContain(fault);
  });

  test("keeps its kind where only its metadata is missing, so that the spec is judged", () => {
    for (const none of [undefined, null, "agent", ["agent"]]) {
      expect(read({ metadata: none })).toMatchObject({ kind: "PlatformKey", identity: undefined });
    }
  });
});

describe("metadata", () => {
  test.each([
    ["name", { name: "Agent" }],
    ["name", { name: undefined }],
    ["name", { name: 7 }],
    ["namespace", { namespace: "a.b" }],
    ["namespace", { namespace: undefined }],
  ])("with a wrong %s names no object: %o", (field, wrong) => {
    const { kind, identity, faults } = metadata(wrong);
    expect([kind, identity]).toEqual(["PlatformKey", undefined]);
    expect(faults).toEqual([expect.stringContaining(`metadata.${field}: `)]);
  });

  test("that is unknown is a mistake with a suggestion, and the object is known all the same", () => {
    const { identity, faults } = metadata({ lables: {} });
    expect(identity).toBeDefined();
    expect(faults).toEqual([expect.stringMatching(/^metadata\.lables: unknown field: .*labels/)]);
  });

  test("that only the cluster writes gives no right: a warning, and the object is known", () => {
    const { complaints, identity } = readManifestIdentity({
      ...KEY,
      metadata: { ...KEY.metadata, ownerReferences: [], uid: "u" },
    });
    expect(identity).toBeDefined();
    expect(complaints.map(({ severity, path }) => [severity, path[1]])).toEqual([
      ["warning", "ownerReferences"],
      ["warning", "uid"],
    ]);
  });

  test("labels and annotations are mappings of names to text, or empty", () => {
    expect(metadata({ labels: null, annotations: { note: "any text" } }).faults).toEqual([]);
    expect(metadata({ labels: ["a"] }).faults).toEqual(["metadata.labels: must be a mapping of names to text"]);
  });
});

describe("names", () => {
  const longest = "n".repeat(63);
  test.each([
    ["agent", true],
    ["a.b-c.9", true],
    [longest, true],
    [`${longest}n`, false],
    ["-a", false],
    ["a.", false],
    ["a..b", false],
    ["A", false],
    ["", false],
  ])("%j as a name of ours: %s", (name, isOne) => expect(checkName(name, 63)).toHaveLength(isOne ? 0 : 1));

  test.each([
    ["dev", true],
    ["9-a", true],
    [longest, true],
    [`${longest}n`, false],
    ["a.b", false],
    ["a-", false],
  ])("%j as a namespace: %s", (name, isOne) => expect(checkNamespace(name)).toHaveLength(isOne ? 0 : 1));

  test("a key that was pasted in a name's place is not repeated", () => {
    const [fault] = checkName(`inf_${"A".repeat(40)}`, 63);
    expect(fault?.message).toContain("inf_...");
    expect(fault?.message).not.toContain("AAA");
  });
});
