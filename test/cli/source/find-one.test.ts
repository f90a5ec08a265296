import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../../cli/command/usage-error.ts";
import { findOne, wantedOf } from "../../../cli/source/find-one.ts";
import { serverSource } from "../../../cli/source/server-source.ts";
import { type ListedObject, matchesFilter, type Source } from "../../../cli/source/source.ts";

describe("a name", () => {
  test.each([
    [undefined, undefined, {}],
    [undefined, "dev", { namespace: "dev" }],
    ["agent", undefined, { name: "agent" }],
    ["agent", "dev", { namespace: "dev", name: "agent" }],
    ["dev/agent", undefined, { namespace: "dev", name: "agent" }],
    ["dev/agent", "dev", { namespace: "dev", name: "agent" }],
    ["key_abc234", undefined, { id: "key_abc234" }],
    ["key_abc234", "dev", { namespace: "dev", id: "key_abc234" }],
  ])("%s with -n %s means %o", (named, namespace, wanted) => {
    expect(wantedOf(named, namespace)).toEqual(wanted);
  });

  test.each(["dev/", "/agent", "a/b/c", ""])("%j is none", (named) => {
    expect(() => wantedOf(named, undefined)).toThrow("give NAME or NAMESPACE/NAME");
  });

  test("in another namespace than -n names is refused", () => {
    expect(() => wantedOf("dev/agent", "prod")).toThrow("dev/agent and -n prod name two namespaces");
  });

  test("of a namespace that is empty, as a variable that is not set, is refused", () => {
    for (const named of [undefined, "agent"]) expect(() => wantedOf(named, "")).toThrow(/^-n: name a namespace/);
  });

  test("that is a secret is refused without being shown", () => {
    expect(() => wantedOf("inf_0123456789abcdef", undefined)).toThrow(/^that is the beginning of a secret/);
  });
});

describe("the object that a name means", () => {
  const wanted = { name: "agent" };
  const key = (namespace: string, creationTimestamp: string, state?: ListedObject["state"]): ListedObject => ({
    kind: "PlatformKey",
    metadata: { namespace, name: "agent", creationTimestamp },
    ...(state && { state }),
    json: {},
  });
  const find = (...objects: ListedObject[]) => findOne(sourceOf(objects), "PlatformKey", wanted);

  test("is the one that there is", async () => {
    const only = key("dev", "2026-01-01T00:00:00Z");
    expect(await find(only)).toBe(only);
  });

  test("is of those at a server the one that lives, else the newest", async () => {
    const [old, later] = [key("dev", "2026-01-01T00:00:00Z", "revoked"), key("dev", "2026-02-01T00:00:00Z", "revoked")];
    const living = key("dev", "2025-01-01T00:00:00Z", "suspended");
    expect(await find(old, living, later)).toBe(living);
    expect(await find(old, later)).toBe(later);
  });

  test("is none where there is none", async () => {
    await expect(find()).rejects.toThrow("there is no key agent: see keyplane get keys");
  });

  test("needs its namespace where there are several", async () => {
    await expect(find(key("dev", ""), key("prod", ""))).rejects.toThrow(
      "there are keys agent in dev, prod: say which with -n NAMESPACE",
    );
  });

  test("needs the id of a key where several of a server are in one namespace, or in none", async () => {
    const ofTeam = (keyID: string, team: string, namespace = "") => ({
      ...key(namespace, ""),
      status: { keyID, team },
    });
    await expect(find(ofTeam("key_a", "a"), ofTeam("key_b", "b"), ofTeam("key_c", "c"))).rejects.toThrow(
      new UsageError("there are 3 keys agent, in the teams a, b, c: say which by its id: key_a, key_b, key_c"),
    );
    await expect(find(ofTeam("key_a", "a", "dev"), ofTeam("key_b", "a", "dev"))).rejects.toThrow(
      new UsageError("there are 2 keys agent, in several clusters: say which by its id: key_a, key_b"),
    );
    await expect(find(ofTeam("key_a", "a"), ofTeam("key_b", "a", "dev"))).rejects.toThrow(
      new UsageError("there are 2 keys agent, in no namespace and in dev: say which by its id: key_a, key_b"),
    );
    await expect(find(ofTeam("key_a", "a"), ofTeam("key_b", "b", "dev"))).rejects.toThrow(
      new UsageError("there are 2 keys agent, in the teams a, b: say which by its id: key_a, key_b"),
    );
  });

  test("is of other kinds than keys shown by the list that has all", async () => {
    const library = (team: string): ListedObject => ({
      ...{ kind: "MemoryLibrary", metadata: { namespace: "", name: "agent" }, json: {} },
      status: { team },
    });
    const source = sourceOf([library("a"), library("b")]);
    await expect(findOne(source, "MemoryLibrary", wanted)).rejects.toThrow(
      new UsageError("there are 2 libraries agent, in the teams a, b: see keyplane get libraries"),
    );
  });

  test("is of an id the key alone, and of no other kind", async () => {
    const asked = { id: "key_abc234" };
    const only = key("dev", "2026-01-01T00:00:00Z");
    expect(await findOne(sourceOf([only]), "PlatformKey", asked)).toBe(only);
    await expect(findOne(sourceOf([only]), "ModelGateway", asked)).rejects.toThrow(
      "there is no gateway key_abc234: see keyplane get gateways",
    );
  });
});

test("a key's id means that key, at a server and in what is declared", async () => {
  const server = createServer(({ url }, response) => {
    const key = { ...{ id: "key_a", name: "ci", namespace: "", team: "a" }, scopes: [], versions: [], state: "active" };
    response.writeHead(url === "/api/v1/keys/key_a" ? 200 : 404).end(JSON.stringify(key));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const choice = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const source = await serverSource({ KEYPLANE_TOKEN: "t" }, choice);
    const found = await findOne(source, "PlatformKey", wantedOf("key_a", undefined));
    expect([found.metadata.name, found.status?.keyID]).toEqual(["ci", "key_a"]);
    await expect(findOne(source, "PlatformKey", wantedOf("key_a", "dev"))).rejects.toThrow("there is no key dev/key_a");
    for (const [id, isMeant] of [
      ["key_a", true],
      ["key_b", false],
    ] as const) {
      expect(matchesFilter({ id }, found)).toBe(isMeant);
    }
  } finally {
    server.close();
  }
});

function sourceOf(objects: readonly ListedObject[]): Source {
  const list = async () => [...objects] as never;
  return {
    from: "data",
    list,
    events: async () => [],
    callers: async () => undefined,
    budgets: async () => undefined,
    notes: async () => [],
    async *changes() {},
    close() {},
  };
}
