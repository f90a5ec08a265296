import { describe, expect, test } from "vitest";
import { formatDiagnostic } from "../../../../domain/manifest/document/diagnostic.ts";
import { MAX_FILE_BYTES, parseManifests } from "../../../../domain/manifest/document/parse.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { errorsOf, key, readText, team, warningsOf } from "../read.ts";

test("a file holds any number of documents, empty ones left out", () => {
  const { documents, diagnostics } = parseManifests(`---\n# nothing\n---\n${team("{}")}---\n${team("{}")}`, "f.yaml");
  expect(diagnostics).toEqual([]);
  expect(documents).toHaveLength(2);
});

test("JSON is read as well", () => {
  const text = JSON.stringify({
    apiVersion: "keyplane.dev/v1alpha1",
    kind: "PlatformTeam",
    metadata: { name: "a" },
    spec: {},
  });
  expect(readText(text)).toMatchObject({ diagnostics: [], manifests: [{ kind: "PlatformTeam" }] });
});

test("a broken document does not take the others with it", () => {
  const { documents, diagnostics } = parseManifests(`${team("{}")}---\na: [1\n---\n${team("{}")}`, "f.yaml");
  expect(documents).toHaveLength(2);
  expect(diagnostics).toMatchObject([
    { severity: "error", line: 7, message: expect.stringContaining("this is not YAML") },
  ]);
});

test("a fault is one line that says file, line and column", () => {
  const [diagnostic] = parseManifests("a: 1\na: 2\n", "teams/a.yaml").diagnostics;
  expect(diagnostic && formatDiagnostic(diagnostic)).toBe(
    "teams/a.yaml:2:1: error: a: is given twice: remove one of the two",
  );
});

test("what a tenant wrote cannot forge a line of output", () => {
  const text = team(`{ "x\\n\\u001b[2Jf.yaml:1:1: error": 1 }`);
  for (const diagnostic of readText(text).diagnostics) expect(formatDiagnostic(diagnostic)).toMatch(/^\P{Cc}*$/u);
  expect(readText(text).diagnostics).toHaveLength(1);
});

describe.each([
  ["an alias", "a: &x 1\nb: *x\n", "b: aliases are not supported: write the value out"],
  ["a merge key", "a: { <<: { b: 1 } }\n", "a: merge keys are not supported"],
  ["a tag", "a: !secret x\n", "tags are not supported"],
  ["c106: a NUL", 'a: ["x\\0y"]\n', "a[0]: has a NUL character, or half of a surrogate pair, which cannot be stored"],
  ["half of a surrogate pair", '{"a": "x\\ud83dy"}', "a: has a NUL character, or half of a surrogate pair"],
  ["a NUL in a name", '"a\\0b": 1\n', "a field's name must be plain text"],
  ["a key that is a list", "? [a]\n: 1\n", "a field's name must be plain text"],
  ["a key called __proto__", "__proto__: { a: 1 }\n", "a field's name must be plain text"],
])("%s", (_, text, says) => {
  test("is refused with a clear error", () => expect(errorsOf(text)).toEqual([expect.stringContaining(says)]));
});

/** In bytes: by day many times the levels that would be too many for the stack, too. */
const DEEP = NIGHTLY ? 2 ** 20 : 2 ** 17;

describe.each([
  ["[", "["],
  ["{", "{"],
  ["- ", "- "],
  ["? ", "? "],
  ["a: ", "a: "],
  ["[{", "[{"],
])("very much of %s", (_, unit) => {
  test("is a short error, and no crash", () => {
    expect(errorsOf(unit.repeat(DEEP / unit.length))).toEqual([": nested more than 100 levels deep"]);
  });
});

/** In bytes. */
const MUCH = NIGHTLY ? 2 ** 20 : 2 ** 15;

test("much of aliases, of doubled fields or of broken documents is a short list of errors", () => {
  for (const unit of ["*a, ", "a: 1, "]) {
    const inner = unit.repeat(MUCH / unit.length);
    expect(errorsOf(unit.startsWith("*") ? `[${inner}]` : `{${inner}}`)).toHaveLength(21);
  }
  expect(errorsOf("---\n!x\n".repeat(MUCH / 7))).toHaveLength(21);
});

test("nesting that is odd and harmless is read", () => {
  const { diagnostics } = parseManifests("[".repeat(40) + "]".repeat(40), "f.yaml");
  expect(diagnostics).toEqual([]);
});

test("a file beyond the size limit is refused unread", () => {
  expect(errorsOf("#".repeat(MAX_FILE_BYTES + 1))).toEqual([": the file is larger than 4 MiB: split it"]);
  expect(errorsOf("#".repeat(MAX_FILE_BYTES))).toEqual([]);
});

test.each([
  ["Latin-1", Buffer.from(team('{ displayName: "Größe" }'), "latin1")],
  ["UTF-16", Buffer.from(`\uFEFF${team("{}")}`, "utf16le")],
])("c99: a file in %s is refused, and has no manifests", (_, bytes) => {
  const { documents, diagnostics } = parseManifests(bytes, "f.yaml");
  expect([documents, diagnostics.map(formatDiagnostic)]).toEqual([
    [],
    ["f.yaml:1:1: error: the file is no text in UTF-8: save it as UTF-8, not as UTF-16 or Latin-1"],
  ]);
  expect(parseManifests(Buffer.from(`\uFEFF${team('{ displayName: "Größe" }')}`), "f.yaml").diagnostics).toEqual([]);
});

test("a byte order mark in front of a later document is taken off, as that of a file behind another is", () => {
  const second = team("{}").replace("name: a", "name: b");
  for (const text of [
    `${team("{}")}---\n\uFEFF${second}`,
    `\uFEFF${team("{}")}--- # b.yaml\r\n\uFEFF${second}`,
    `\uFEFF---\n${team("{}")}\uFEFF---\r\n${second}`,
  ]) {
    const { documents, diagnostics } = parseManifests(text, "f.yaml");
    expect([documents.map(({ value }) => value), diagnostics]).toMatchObject([
      [{ apiVersion: "keyplane.dev/v1alpha1" }, { apiVersion: "keyplane.dev/v1alpha1" }],
      [],
    ]);
  }
});

test("thousands of faults are cut to what a reader can use", () => {
  const errors = errorsOf(key(`{ preset: MCPReadOnly, ${Array.from({ length: 5000 }, (_, i) => `x${i}: 1`)} }`));
  expect(errors).toHaveLength(21);
  expect(errors.at(-1)).toContain("and more of the kind");
});

describe("plain text that kubectl reads in another way", () => {
  test.each(["n", "y", "Yes", "no", "ON", "off", "0777", "1_000", "0b11", "1:20"])("%s is warned of", (text) => {
    expect(warningsOf(`a: ${text}\n`)).toEqual([expect.stringMatching(/^a: .*YAML 1\.1.*write it in quotes/)]);
  });
  test.each([
    "'n'",
    '"yes"',
    "0",
    "10",
    "0.5",
    "true",
    "null",
    "2026-11-20",
    "2026-11-20T10:20:30Z",
    "12h30m",
    "a:b",
    "nope",
    "1.2.3",
    "10.0.0.1",
  ])("%s is not", (text) => expect(warningsOf(`a: ${text}\n`)).toEqual([]));
  test("is warned of as a field's name too", () => {
    expect(warningsOf("on: 1\n")).toEqual([expect.stringContaining("kubectl reads this as a boolean")]);
  });
});
