import { describe, expect, test } from "vitest";
import { findOne, wantedOf } from "../../../cli/source/find-one.ts";
import type { ListedObject, Source } from "../../../cli/source/source.ts";

describe("a name", () => {
  test.each([
    [undefined, undefined, {}],
    [undefined, "dev", { namespace: "dev" }],
    ["agent", undefined, { name: "agent" }],
    ["agent", "dev", { namespace: "dev", name: "agent" }],
    ["dev/agent", undefined, { namespace: "dev", name: "agent" }],
    ["dev/agent", "dev", { namespace: "dev", name: "agent" }],
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
