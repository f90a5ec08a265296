import { describe, expect, test } from "vitest";
import { parseFieldPath, sortedBy } from "../../../cli/get/sort-objects.ts";

describe("the path of a field", () => {
  test.each([
    [".metadata.name", ["metadata", "name"]],
    ["metadata.name", ["metadata", "name"]],
    ["{.metadata.name}", ["metadata", "name"]],
    [".status.versions[0].mintedAt", ["status", "versions", "0", "mintedAt"]],
    [".metadata.labels.example\\.com/app", ["metadata", "labels", "example.com/app"]],
    [".metadata.labels['example.com/app']", ["metadata", "labels", "example.com/app"]],
  ])("%s", (text, path) => {
    expect(parseFieldPath(text)).toEqual(path);
  });

  test.each(["", ".", ".a..b", ".a[", ".a[*]", "{.a", ".a[?(@.b)]"])("%j is none", (text) => {
    expect(() => parseFieldPath(text)).toThrow("write the path of a field in -o json, such as .metadata.name");
  });
});

describe("objects by a field", () => {
  const sorted = (...values: unknown[]) =>
    sortedBy(
      ["spec", "value"],
      values.map((value) => ({ json: { spec: { value } } })),
    ).map(({ json }) => (json as { spec: { value: unknown } }).spec.value);

  test("are in the order of numbers, of texts with numbers in them, and of times", () => {
    expect(sorted(10, 9, -1)).toEqual([-1, 9, 10]);
    expect(sorted("key-10", "key-2", "a")).toEqual(["a", "key-2", "key-10"]);
    expect(sorted("2026-11-02T00:00:00Z", "2025-12-31T00:00:00Z")).toEqual([
      "2025-12-31T00:00:00Z",
      "2026-11-02T00:00:00Z",
    ]);
  });

  test("begin with those that lack it, and stay as they are where they have the same", () => {
    expect(sorted("b", null, "a", undefined)).toEqual([null, undefined, "a", "b"]);
    const [one, other] = [{ json: { a: 1, b: 1 } }, { json: { a: 1, b: 2 } }];
    expect(sortedBy(["a"], [one, other])).toEqual([one, other]);
  });

  test("are refused where none has it: a misspelt path is no order", () => {
    expect(() => sortedBy(["status", "nmae"], [{ json: { status: {} } }])).toThrow("none of them has status.nmae");
    expect(sortedBy(["status"], [])).toEqual([]);
  });

  test.each(["__proto__", "constructor", ".versions.length"])(
    "have no field %s, which every object or list has",
    (path) => {
      expect(() => sortedBy(parseFieldPath(path), [{ json: { versions: [1] } }])).toThrow("none of them has");
    },
  );
});
