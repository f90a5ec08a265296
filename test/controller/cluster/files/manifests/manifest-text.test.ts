import { describe, expect, test } from "vitest";
import { endingOf, isBeginning, isCutShort } from "../../../../../controller/cluster/files/manifests/manifest-text.ts";
import { key } from "../harness.ts";

const [ONE, TWO] = [key("one"), key("two")];
const item = (name: string) => `- ${key(name).trimEnd().replaceAll("\n", "\n  ")}\n`;
const LIST = "apiVersion: v1\nkind: List\nitems:\n";
const indented = (list: string) => list.replaceAll(/^(?=[ -])/gm, "  ");
const BOTH = `${ONE}---\n${TWO}`;
const lines = (text: string, from: number, to: number) => text.split("\n").slice(from, to).join("\n");

describe("a text of which the last document is missing is not cut short", () => {
  test.for<[of: string, text: string, whole: string]>([
    ["before a blank line", ONE, `${ONE}\n---\n${TWO}`],
    ["before a comment", ONE, `${ONE}# the second\n---\n${TWO}`],
    ["with a comment after it", `${ONE}# no second\n`, BOTH],
    ["whose separator stays", `${ONE}---\n`, BOTH],
    ["of a file from Windows", ONE, BOTH.replaceAll("\n", "\r\n")],
    ["of a list", `${LIST}${item("one")}`, `${LIST}${item("one")}${item("two")}`],
    ["of an indented list", indented(`${LIST}${item("one")}`), indented(`${LIST}${item("one")}${item("two")}`)],
    ["that holds something else by now", `${ONE.replace("one", "another")}---\n${lines(TWO, 0, 3)}\n`, BOTH],
    ["that is whole", BOTH, BOTH],
    ["that is empty", "", BOTH],
  ])("one %s", ([, text, whole]) => {
    expect(isCutShort(text, whole)).toBe(false);
  });
});

describe("a text that ends in the middle of a document is cut short", () => {
  test.for<[of: string, text: string, whole: string]>([
    ["in a line", ONE.slice(0, -4), BOTH],
    ["after a line", `${ONE}---\n${lines(TWO, 0, 3)}\n`, BOTH],
    ["under another date", `# Monday\n${lines(ONE, 0, 3)}\n`, `# Sunday\n${BOTH}`],
    ["of a list", `${LIST}${item("one")}${lines(item("two"), 0, 3)}\n`, `${LIST}${item("one")}${item("two")}`],
    ["before an item of what is no list", "kind: Other\nitems:\n- one\n", "kind: Other\nitems:\n- one\n- two\n"],
    ["of a file from Windows", `${lines(ONE, 0, 3)}\r\n`, BOTH.replaceAll("\n", "\r\n")],
  ])("one cut off %s", ([, text, whole]) => {
    expect(isCutShort(text, whole)).toBe(true);
  });
});

test("a text is the beginning of another whatever the comments, and up to within its last line", () => {
  expect([endingOf(ONE), endingOf(ONE.trimEnd())]).toEqual(["line", "within a line"]);
  expect(isBeginning(`# today\n${ONE}`, BOTH)).toBe(true);
  expect(isBeginning(ONE.slice(0, -4), BOTH)).toBe(true);
  expect(isBeginning(`${ONE.slice(0, -4)}\n`, BOTH)).toBe(false);
  expect(isBeginning(TWO, BOTH)).toBe(false);
});
