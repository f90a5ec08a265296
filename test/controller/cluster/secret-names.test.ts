import { describe, expect, it } from "vitest";
import type { DeclaredObject } from "../../../controller/cluster/port.ts";
import { createSecretIndex } from "../../../controller/cluster/secret-names.ts";

/** As far as it is read here. */
function key(name: string, secretName: string): DeclaredObject {
  const ref = { kind: "PlatformKey", namespace: "dev", name } as const;
  return { ...ref, spec: { source: {}, secret: { name: secretName } } } as DeclaredObject;
}

function gateway(name: string, credentials: readonly string[]): DeclaredObject {
  const upstreams = credentials.map((credential) => ({ credentialRef: { name: credential } }));
  return { kind: "ModelGateway", namespace: "dev", name, spec: { upstreams } } as unknown as DeclaredObject;
}

function team(name: string, namespaces: readonly string[]): DeclaredObject {
  const webhooks = namespaces.map((namespace) => ({ secretRef: { namespace, name: "signing" } }));
  return { kind: "PlatformTeam", namespace: "", name, spec: { webhooks } } as unknown as DeclaredObject;
}

/** An index with what it reports, in words. */
function watched() {
  const news: string[] = [];
  const index = createSecretIndex(
    (namespace) => news.push(`first in ${namespace}`),
    (namespace) => news.push(`last in ${namespace}`),
    (namespace, name) => news.push(`${namespace}/${name} dropped`),
  );
  const note = (object: DeclaredObject) => index.note(object, object);
  const namers = (namespace: string, name: string) =>
    index.namersOf(namespace, name).map((ref) => `${ref.kind}/${ref.name}`);
  return { index, note, namers, takeNews: () => news.splice(0) };
}

describe("the index of who names which Secret", () => {
  it("has every object that names a Secret, each once", () => {
    const { note, namers } = watched();
    note(key("reader", "shared"));
    note(gateway("main", ["shared", "shared", "own"]));
    note(gateway("main", ["shared", "own"]));
    expect(namers("dev", "shared")).toEqual(["PlatformKey/reader", "ModelGateway/main"]);
    expect(namers("dev", "own")).toEqual(["ModelGateway/main"]);
    expect(namers("other", "shared")).toEqual([]);
  });

  it("follows an object that names another Secret now, or is gone", () => {
    const { index, note, namers, takeNews } = watched();
    const reader = key("reader", "old");
    note(reader);
    note(key("reader", "new"));
    expect([namers("dev", "old"), namers("dev", "new")]).toEqual([[], ["PlatformKey/reader"]]);
    index.note(reader, undefined);
    expect(namers("dev", "new")).toEqual([]);
    expect(takeNews()).toEqual(["first in dev", "dev/old dropped", "dev/new dropped", "last in dev"]);
  });

  it("drops a Secret, and a namespace, with the last object that names it and not before", () => {
    const { index, note, takeNews } = watched();
    const [a, b] = [key("a", "shared"), key("b", "shared")];
    note(a);
    note(b);
    note(a);
    index.note(a, undefined);
    expect(takeNews()).toEqual(["first in dev"]);
    index.note(b, undefined);
    index.note(b, undefined);
    expect(takeNews()).toEqual(["dev/shared dropped", "last in dev"]);
  });

  it("has the Secrets that teams name in namespaces of their choice", () => {
    const { note, namers, takeNews } = watched();
    note(team("platform", ["a", "b", "b"]));
    note(team("platform", ["b"]));
    expect([namers("a", "signing"), namers("b", "signing")]).toEqual([[], ["PlatformTeam/platform"]]);
    expect(takeNews()).toEqual(["first in a", "first in b", "a/signing dropped", "last in a"]);
  });
});
