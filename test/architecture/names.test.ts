/** Where a reader finds the test of a file that decides: at the file's own path below test/. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, ROOT, read } from "./sources.ts";

/** What these folders hold decides without I/O: its rules are read in its tests. */
const FOLDERS = ["domain", "server/key-index"];
/** A file of fewer lines is documented enough by those who use it. */
const LINES = 60;
/** Written by scripts/generate.ts. */
const GENERATED = "domain/kinds/generated/";

/** Files that have no test of their own, and the test that covers them. */
const COVERED_ELSEWHERE: Readonly<Record<string, { readonly by: string; readonly why: string }>> = {
  "domain/access/key-record.ts": { by: "test/domain/access/authorize.test.ts", why: "types that decisions read" },
  "server/key-index/metrics.ts": {
    by: "test/server/key-index/replica.test.ts",
    why: "definitions of metrics: what sets them is what a replica does",
  },
  "server/key-index/index-tables.ts": {
    by: "test/server/key-index/key-index.test.ts",
    why: "what KeyIndex and IndexMirror have in common, and nothing else is made of",
  },
};

const linesOf = (file: string) => read(file).split("\n").length - 1;
/** A table of rules is a test's too: one that reads several tables runs them. */
const testsOf = (file: string) => [".test.ts", ".rows.ts"].map((ending) => join("test", file.replace(/\.ts$/, ending)));
const hasTest = (file: string) => testsOf(file).some((test) => existsSync(join(ROOT, test)));

it.each(FOLDERS)(
  "each file of 60 lines and more in %s has a test of its name, or says which other covers it",
  (folder) => {
    const files = filesBelow(folder, ".ts").filter((file) => !file.startsWith(GENERATED) && linesOf(file) >= LINES);
    expect(files.filter((file) => !hasTest(file) && COVERED_ELSEWHERE[file] === undefined)).toEqual([]);
  },
);

it("names no file that is gone, has a test by now, or is covered by a test that is not there", () => {
  const wrong = Object.entries(COVERED_ELSEWHERE).filter(
    ([file, { by }]) => !existsSync(join(ROOT, file)) || hasTest(file) || !existsSync(join(ROOT, by)),
  );
  expect(wrong.map(([file]) => file)).toEqual([]);
});

it("test/oracle judges for several suites: it imports none of them", () => {
  const wrong = filesBelow("test/oracle", ".ts").filter((file) =>
    /from "\.\.\/(?:chaos|e2e|faults|bench)\//.test(read(file)),
  );
  expect(wrong).toEqual([]);
});
