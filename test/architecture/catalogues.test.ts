import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../../domain/access/operations.ts";
import { SCOPES } from "../../domain/access/scopes.ts";
import { REASONS } from "../../domain/conditions.ts";
import { MAX_RETIRING } from "../../domain/key/stored/version-slots.ts";
import { FOLDERS, filesBelow, read } from "./sources.ts";

const sources = FOLDERS.flatMap((folder) => filesBelow(folder, ".ts"));
const texts = new Map(sources.map((file) => [file, read(file)]));
/** Whether any source but the catalogue itself has the word as a text of its own. */
const isUsed = (word: string, catalogue: string) =>
  [...texts].some(([file, text]) => file !== catalogue && new RegExp(`["'\`.]${word}["'\`]`).test(text));

describe("one catalogue for each thing", () => {
  it.each(Object.keys(REASONS))("the reason %s is stated somewhere", (reason) => {
    const isOfCrds = filesBelow("crds", ".yaml").every((file) => read(file).includes(`reason: ${reason}\n`));
    expect(isUsed(reason, "domain/conditions.ts") || isOfCrds).toBe(true);
  });

  it("a key has as many old versions by the database and the declared kind as the rules let it have", () => {
    const [, places] = /retiring_slot <= (\d+)/.exec(read("docs/reference/schema.sql")) ?? [];
    expect(Number(places)).toBe(MAX_RETIRING);
    const crd = read("crds/platformkeys.yaml");
    const [, intervals = ""] = /\n *((?:duration\(self\.interval\) \+ )*duration\(self\.interval\) >=)/.exec(crd) ?? [];
    expect(intervals.match(/self\.interval/g)).toHaveLength(MAX_RETIRING);
    const [, shown] = /newest first\.\n *type: array\n *maxItems: (\d+)/.exec(crd) ?? [];
    expect(Number(shown)).toBe(MAX_RETIRING + 1);
  });

  it("a time is written by domain/rfc3339.ts", () => {
    const wrong = FOLDERS.flatMap((folder) => filesBelow(folder, ".ts")).filter((file) => {
      return file !== "domain/rfc3339.ts" && read(file).includes("toISOString");
    });
    expect(wrong).toEqual([]);
  });

  it("the text of an error is taken from domain/error-text.ts, which leaves out keys", () => {
    const taken = /(instanceof Error \? \w+\.message|String\((error|cause)\)|\$\{(error|cause)\})/;
    const wrong = FOLDERS.flatMap((folder) => filesBelow(folder, ".ts")).filter(
      (file) => file !== "domain/error-text.ts" && taken.test(read(file)),
    );
    expect(wrong).toEqual([]);
  });

  it.each(Object.keys(OPERATIONS))("the operation %s is served", (operation) => {
    const tool = operation.startsWith("mcp.memory_") ? operation.slice("mcp.".length) : operation;
    expect(isUsed(tool, "domain/access/operations.ts")).toBe(true);
  });

  it.each(SCOPES)("the scope %s is needed by an operation, and declarable", (scope) => {
    expect(Object.values(OPERATIONS).some((operation) => operation.scope === scope)).toBe(true);
    expect(read("crds/platformkeys.yaml")).toContain(scope);
  });
});
