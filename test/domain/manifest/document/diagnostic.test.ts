import { describe, expect, test } from "vitest";
import {
  type Diagnostic,
  formatDiagnostic,
  formatPath,
  listDiagnostics,
  printable,
  quote,
} from "../../../../domain/manifest/document/diagnostic.ts";

const PASTED = `inf_${"a".repeat(57)}`;

function diagnostic(line: number, more: Partial<Diagnostic> = {}): Diagnostic {
  return {
    line,
    column: 1,
    severity: "error",
    file: "a.yaml",
    path: "spec.preset",
    message: `of line ${line}`,
    ...more,
  };
}

describe("a fault as a line", () => {
  test("begins with what editors and terminals jump to", () => {
    expect(formatDiagnostic(diagnostic(7, { column: 3 }))).toBe("a.yaml:7:3: error: spec.preset: of line 7");
  });

  test("of the whole document names no field", () => {
    expect(formatDiagnostic(diagnostic(1, { path: "", severity: "warning" }))).toBe("a.yaml:1:1: warning: of line 1");
  });

  test("stays one line, whatever a file is called", () => {
    const line = formatDiagnostic(diagnostic(1, { file: "a\nb.yaml:9:9: error\u001b[2J" }));
    expect(line).toBe("a\uFFFDb.yaml:9:9: error\uFFFD[2J:1:1: error: spec.preset: of line 1");
  });
});

describe("a path", () => {
  test.each<[readonly (string | number)[], string]>([
    [[], ""],
    [["spec"], "spec"],
    [["spec", "scopes", 0], "spec.scopes[0]"],
    [["metadata", "labels", "app.kubernetes.io/name"], "metadata.labels.app.kubernetes.io/name"],
    [["spec", "two words"], 'spec."two words"'],
    [["spec", "line\nbreak"], 'spec."line\\nbreak"'],
  ])("%j is written %s", (path, text) => expect(formatPath(path)).toBe(text));

  test("has no key in it that was pasted as a field's name", () => {
    expect(formatPath(["spec", PASTED])).toBe("spec.inf_...");
    expect(formatPath(["spec", `${PASTED} and more`])).toBe('spec."inf_... and more"');
  });
});

describe("a quoted value", () => {
  test("is JSON on one line, of at most 80 characters", () => {
    expect([quote("a"), quote(1), quote(null), quote(["x"])]).toEqual(['"a"', "1", "null", '["x"]']);
    expect(quote("x".repeat(78))).toHaveLength(80);
    const long = quote("x".repeat(79));
    expect([long.length, long.endsWith("...")]).toEqual([80, true]);
  });

  test("has no key in it, also where it is cut short", () => {
    expect(quote(PASTED)).toBe('"inf_..."');
    expect(quote(`${"x".repeat(70)} ${PASTED}`)).not.toContain("aaa");
  });

  test("of what JSON does not have is its text", () => expect(quote(undefined)).toBe("undefined"));
});

test.each([
  ["\u001b[31m", "\uFFFD[31m"],
  ["a\u2028b\u202ec", "a\uFFFDb\uFFFDc"],
  ["Zürich 東京", "Zürich 東京"],
])("%j is printed as %j: nothing steers a terminal or turns a text's direction", (text, shown) => {
  expect(printable(text)).toBe(shown);
});

describe("a list of faults", () => {
  test("is in the order of the file, whatever their severity", () => {
    const list = [diagnostic(3), diagnostic(1, { severity: "note" }), diagnostic(2, { severity: "warning" })];
    expect(listDiagnostics(list).map(({ line }) => line)).toEqual([1, 2, 3]);
    const ofALine = [diagnostic(1, { column: 9 }), diagnostic(1, { column: 2 })];
    expect(listDiagnostics(ofALine).map(({ column }) => column)).toEqual([2, 9]);
  });

  test("ends after twenty of a severity with one that says so, at the place of the next", () => {
    const errors = Array.from({ length: 1_000 }, (_, i) => diagnostic(i + 1));
    const warnings = [diagnostic(2_000, { severity: "warning" })];
    const list = listDiagnostics([...errors, ...warnings]);
    expect(list).toHaveLength(22);
    expect(list[20]).toMatchObject({ line: 21, path: "", message: expect.stringContaining("correct these first") });
    expect(list[21]).toMatchObject({ severity: "warning" });
  });

  test("of exactly twenty is whole", () => {
    expect(listDiagnostics(Array.from({ length: 20 }, (_, i) => diagnostic(i + 1)))).toHaveLength(20);
  });
});
