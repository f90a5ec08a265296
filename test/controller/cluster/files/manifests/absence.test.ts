import { describe, expect, test } from "vitest";
import {
  explainAbsence,
  type FolderState,
  type Origin,
  parentFolders,
} from "../../../../../controller/cluster/files/manifests/absence.ts";
import type { ParsedFile } from "../../../../../controller/cluster/files/manifests/folder.ts";
import { endingOf, isCutShort } from "../../../../../controller/cluster/files/manifests/manifest-text.ts";
import type { Diagnostic } from "../../../../../domain/manifest/document/diagnostic.ts";

const ORIGIN: Origin = {
  file: "a/b/c.yaml",
  root: "/m",
  devices: ["1", "1", "2"],
  inode: "2:7",
  ending: "line",
  cutShort: null,
};

const fileOf = (more: Partial<ParsedFile> = {}): ParsedFile => ({
  ...{ path: "/m/a/b/c.yaml", name: "a/b/c.yaml", text: "name: other\n", identity: "i2", inode: "2:7" },
  ...{ cameWhole: false, ending: "line", isCutShort: false, documents: [], diagnostics: [], passedOver: 1 },
  ...more,
});
const folder = (device: string, isEmpty = false) => ({ is: "folder", device, isEmpty }) as const;
const PLACES = { "": folder("1"), a: folder("1"), "a/b": folder("2") };
const FAULT: Diagnostic = { severity: "error", file: "/m/x.yaml", line: 3, column: 1, path: "", message: "is wrong" };

type Now = {
  readonly root?: string;
  readonly places?: Record<string, { is: "folder"; device: string; isEmpty: boolean } | { is: "other" } | undefined>;
  readonly file?: ParsedFile;
  readonly faulty?: readonly ParsedFile[];
  readonly hiding?: readonly ParsedFile[];
};

function stateOf({ root = "/m", places = {}, file, faulty = [], hiding = [] }: Now): FolderState {
  const all = Object.entries({ ...PLACES, ...places }).flatMap(([path, place]) =>
    place ? [[path, place] as const] : [],
  );
  const diagnostics = (files: readonly ParsedFile[]) => new Map(files.map((one) => [one, FAULT]));
  return {
    root,
    foundEntries: new Map(all),
    file: () => file,
    diagnostics: diagnostics(faulty),
    hiding: diagnostics(hiding),
  };
}

const broken = fileOf({ name: "x.yaml", text: "[ name: agent\n" });
const faulty = fileOf();

describe("c49: a declaration that is gone was", () => {
  test.each<[string, Now, Partial<Origin>, string]>([
    ["taken away: its file is gone", {}, {}, "deliberate"],
    ["taken away: its file was replaced whole", { file: fileOf({ inode: "2:8", cameWhole: true }) }, {}, "deliberate"],
    ["doubtful: its file still stands", { file: fileOf() }, {}, "doubtful"],
    ["doubtful: it is not known how its file was replaced", { file: fileOf({ inode: "2:8" }) }, {}, "doubtful"],
    ["doubtful: its folder is gone", { places: { "a/b": undefined } }, {}, "doubtful"],
    ["doubtful: nothing is known of it", { file: fileOf() }, { file: "" }, "doubtful"],
    ["held: its file is empty", { file: fileOf({ passedOver: 0 }) }, {}, "a/b/c.yaml is empty"],
    [
      "held: its file was replaced by an empty one",
      { file: fileOf({ passedOver: 0, inode: "2:8", cameWhole: true }) },
      {},
      "is empty",
    ],
    [
      "held: its file ends within a line, as it did not",
      { file: fileOf({ ending: "within a line" }) },
      {},
      "is cut off",
    ],
    [
      "doubtful: its file always ended within a line",
      { file: fileOf({ ending: "within a line" }) },
      { ending: "within a line" },
      "doubtful",
    ],
    ["held: its file is cut within a document", { file: fileOf({ isCutShort: true }) }, {}, "is cut off"],
    ["held: its file was so before a restart", { file: fileOf() }, { cutShort: "i2" }, "is cut off"],
    ["doubtful: its file was so, and was written since", { file: fileOf() }, { cutShort: "i1" }, "doubtful"],
    [
      "held: a folder on the way is empty",
      { places: { a: folder("1", true), "a/b": undefined } },
      {},
      "folder a is empty",
    ],
    ["held: its folder is empty", { places: { "a/b": folder("2", true) } }, {}, "the folder a/b is empty"],
    ["held: its folder is on another device", { places: { "a/b": folder("1") } }, {}, "a/b is on another device"],
    ["held: the topmost folder is on another device", { places: { "": folder("9") } }, {}, "/m is on another device"],
    [
      "held: a folder is a link",
      { places: { a: { is: "other" }, "a/b": undefined } },
      {},
      "the folder a is no longer a folder",
    ],
    ["held: its file is a folder", { places: { "a/b/c.yaml": { is: "other" } } }, {}, "c.yaml is no longer a file"],
    ["held: all of it was elsewhere", { root: "/n" }, {}, "they were declared in /m, and this is /n"],
    ["held: its file has a fault", { file: faulty, faulty: [faulty] }, {}, "the fault at /m/x.yaml:3 may hide them"],
    [
      "held: a broken file has its name",
      { hiding: [broken], faulty: [broken] },
      {},
      "the fault at /m/x.yaml:3 may hide",
    ],
    ["taken away: a faulty file that hides nothing has its name", { faulty: [broken] }, {}, "deliberate"],
    [
      "held: a fault, and nothing is known of it",
      { faulty: [broken] },
      { file: "" },
      "every fault in the manifests is",
    ],
    [
      "held: a folder is empty, and nothing is known of it",
      { places: { d: folder("1", true) } },
      { file: "" },
      "folder d",
    ],
  ])("%s", (_, now, more, says) => {
    const origin = more.file === "" ? undefined : { ...ORIGIN, ...more };
    const absence = explainAbsence(origin, "agent", stateOf(now));
    expect(absence.is === "held" ? absence.why : absence.is).toContain(says);
  });

  test("a broken file hides what has its name as a word of its own", () => {
    const hides = (text: string) =>
      explainAbsence(ORIGIN, "agent", stateOf({ hiding: [fileOf({ name: "x.yaml", text })] })).is === "held";
    for (const text of ["{name: agent}", "name: 'agent'", "- agent\n", "n1/agent"])
      expect(hides(text), text).toBe(true);
    for (const text of ["name: agent-2", "my-agent", "agents"]) expect(hides(text), text).toBe(false);
  });

  test("the folders on the way to a file begin with that of manifests", () => {
    expect(parentFolders("a/b/c.yaml")).toEqual(["", "a", "a/b"]);
    expect(parentFolders("c.yaml")).toEqual([""]);
  });
});

describe("c49: a text", () => {
  test.each([
    ["a: 1\n", "line"],
    ["a: 1", "within a line"],
    ["", "within a line"],
    ["a: 1\n---\n", "line"],
    ["a: 1\n---", "within a line"],
  ])("%j ends with or within a %s", (text, ending) => expect(endingOf(text)).toBe(ending));

  const whole = "a: 1\nb: 1\n---\na: 2\nb: 2\n";
  test.each([
    [whole, false],
    ["a: 1\nb: 1\n---\na: 2\n", true],
    ["a: 1\n", true],
    ["a: 1\nb", true],
    ["a: 1\nb: 1\n", false],
    ["a: 1\nb: 1\n---\n", false],
    ["a: 1\nb: 1\n---\na: 2\nb: 2", false],
    ["a: 1\nb: 9\n", false],
    ["# today\n\na: 1\n", true],
    ["# today\n\na: 1\nb: 1\n# the end\n", false],
    ["a: 1\r\nb: 1\r\n", false],
    ["", false],
  ])("%j is cut short within a document: %s", (text, cut) => expect(isCutShort(text, whole)).toBe(cut));

  const list = "# today\napiVersion: v1\nkind: List\nitems:\n- a: 1\n  b:\n  - 1\n  - 2\n- a: 2\n  b: []\n";
  test.each([
    ["# later\napiVersion: v1\nkind: List\nitems:\n", true],
    ["# later\napiVersion: v1\nkind: List\nitems:\n- a: 1\n", true],
    ["# later\napiVersion: v1\nkind: List\nitems:\n- a: 1\n  b:\n  - 1\n", true],
    ["# later\napiVersion: v1\nkind: List\nitems:\n- a: 1\n  b:\n  - 1\n  - 2\n", false],
    ["# later\napiVersion: v1\nkind: List\nitems:\n- a: 1\n  b:\n  - 1\n  - 2\n- a: 2\n", true],
    ["# later\napiVersion: v1\nkind: List\nitems:\n- a: 1\n  b:\n  - 1\n  - 2\n- a: 2\n  b: []\n", false],
  ])("%j is cut short within an item of a list: %s", (text, cut) => expect(isCutShort(text, list)).toBe(cut));

  test("whose key ends in a list of two is cut short after the first of them", () => {
    expect(isCutShort("a:\n- 1\n", "a:\n- 1\n- 2\n")).toBe(true);
  });
});
