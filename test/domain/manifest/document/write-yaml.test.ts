import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { writeYaml } from "../../../../domain/manifest/document/write-yaml.ts";

/** What YAML 1.1 takes for no text, what begins a line in it, and what no text may hold as it stands. */
const HOSTILE = [
  ...["on", "yes", "n", "~", "null", "1_000", "0b11", "012", "1e3", "12:30:00", "2020-01-01", ".inf", "=", "<<", ""],
  ...["a\nkind: Secret", "a\r\nkind: Secret", "---\nkind: Secret", "a: b", "a #b", "&a", "*a", "!!int 1", "'", '"'],
  ...["\u2028", "\u2029", "\u0085"].map((line) => `a${line}kind:${line} Secret${line}---${line}kind:${line} Role`),
  ...["\u0000", "\u001b[31m", "\u007f", "\u0080", "\ufeff", "\u202e", "\ufffe", "\u{e0041}", "\u{1f511}"],
].flatMap((text) => [text, `a${text}b`]);

describe("A manifest's text", () => {
  test.each(HOSTILE)("b103: is read as it was meant, by YAML 1.1 too, and in lines that all see alike: %j", (text) => {
    const manifest = { kind: "PlatformKey", metadata: { name: text }, spec: { displayName: text, all: [text, text] } };
    const written = writeYaml(manifest);
    expect(parse(written)).toEqual(manifest);
    expect(parse(written, { version: "1.1" })).toEqual(manifest);
    expect(written).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  });
});
