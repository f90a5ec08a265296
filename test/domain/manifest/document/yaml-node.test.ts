import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import type { Path } from "../../../../domain/manifest/document/diagnostic.ts";
import { formatPath } from "../../../../domain/manifest/document/diagnostic.ts";
import { offsetOf, readNode } from "../../../../domain/manifest/document/yaml-node.ts";

const nodeOf = (text: string) => parseDocument(text, { uniqueKeys: false, merge: false }).contents;

function read(text: string) {
  const { value, diagnostics, warnings } = readNode(nodeOf(text));
  const place = ({ offset, path, message }: (typeof diagnostics)[number]) =>
    `${formatPath(path)} at "${text.slice(offset).split(/[\s:]/)[0]}": ${message.split(":")[0]}`;
  return { value, faults: diagnostics.map(place), warnings: warnings.map(place) };
}

describe("a YAML node as JSON has it", () => {
  test("is its mappings, lists and scalars", () => {
    const text = "a: 1\nb: [true, null, 1.5]\nc: { d: text }\n";
    expect(read(text)).toEqual({ value: { a: 1, b: [true, null, 1.5], c: { d: "text" } }, faults: [], warnings: [] });
  });

  test("has keys of text, as kubectl makes of numbers and booleans", () => {
    expect(read("1: a\ntrue: b\n").value).toEqual({ "1": "a", true: "b" });
  });

  test("has no alias, of which a few lines make a gigabyte", () => {
    const { value, faults } = read("a: &a [1]\nb: *a\n");
    expect(value).toEqual({ a: [1], b: null });
    expect(faults).toEqual(['b at "*a": aliases are not supported']);
  });

  test("has no merge key", () => {
    const { value, faults } = read("a: 1\n<<: { b: 2 }\n");
    expect(value).toEqual({ a: 1 });
    expect(faults).toEqual([' at "<<": merge keys are not supported']);
  });

  test("has each field once: the first stays, and the second is at fault", () => {
    const { value, faults } = read("spec:\n  state: Active\n  state: Revoked\n");
    expect(value).toEqual({ spec: { state: "Active" } });
    expect(faults).toEqual(['spec.state at "state": is given twice']);
  });

  test.each(["apiVersion: a\nkind: B\n", "kind: B\napiVersion: a\n"])(
    "ends where a second manifest begins, which is one fault: %j",
    (manifest) => {
      const { value, faults } = read(`${manifest}spec: { a: 1 }\n${manifest}spec: { a: 2 }\n`);
      expect(value).toEqual({ apiVersion: "a", kind: "B", spec: { a: 1 } });
      const [field] = manifest.split(":", 1);
      expect(faults).toEqual([`${field} at "${field}": a second manifest begins here`]);
    },
  );

  test.each(["? [a]\n: 1\n", "__proto__: { admin: true }\n"])("has no field of another name than text: %j", (text) => {
    const { value, faults } = read(text);
    expect(value).toEqual({});
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain("a field's name must be plain text");
  });

  test("has a warning for each plain scalar, a key too, that YAML 1.1 reads in another way", () => {
    expect(read("on: no\nmode: 0644\n").warnings.map((one) => one.split(":")[0])).toEqual([
      'on at "on"',
      'on at "no"',
      'mode at "0644"',
    ]);
    expect(read("on: 'no'\nmode: !!str 0644\n").warnings).toHaveLength(1);
  });
});

describe("the place of a path in the text", () => {
  const text = "spec:\n  scopes:\n    - a\n    - b\n  secret:\n    name: x\n";
  const at = (path: Path, of: "key" | "value" = "value") => text.slice(offsetOf(nodeOf(text), path, of)).split("\n")[0];

  test("is that of its value, or of its name where that is meant", () => {
    expect(at(["spec", "secret", "name"])).toBe("x");
    expect(at(["spec", "secret", "name"], "key")).toBe("name: x");
    expect(at(["spec", "scopes", 1])).toBe("b");
  });

  test("of a mapping or a list is that of its name", () => {
    expect(at(["spec", "scopes"])).toBe("scopes:");
    expect(at(["spec"])).toBe("spec:");
  });

  test("that is not there is that of its nearest parent", () => {
    expect(at(["spec", "secret", "dataKey"])).toBe("secret:");
    expect(at(["spec", "scopes", 7])).toBe("scopes:");
    expect(at(["metadata", "name"])).toBe("spec:");
    expect(at([])).toBe("spec:");
  });
});
