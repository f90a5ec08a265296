/** The workflows that check and release Keyplane: nothing here can run them, so they are read. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { filesBelow, ROOT, read } from "../architecture/sources.ts";
import { findActionlint } from "../env/actionlint.ts";

const run = promisify(execFile);
const WORKFLOWS = [...filesBelow(".github/workflows", ".yml"), "examples/github-actions/keyplane.yml"];

describe("the workflows", () => {
  it("have nothing that actionlint finds fault with", async () => {
    // Not by what else is on this machine: shellcheck and pyflakes have their own opinions in each version.
    const args = ["-shellcheck=", "-pyflakes=", ...WORKFLOWS.map((file) => join(ROOT, file))];
    expect((await run(await findActionlint(), args)).stdout).toBe("");
    expect(WORKFLOWS).toContain(".github/workflows/release.yml");
  });

  it.each(WORKFLOWS)("%s takes each action by its commit, and gives no job more rights than it names", (file) => {
    const used = [...read(file).matchAll(/uses: (\S+)/g)].map(([, action = ""]) => action);
    expect(used.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
    const { permissions } = parse(read(file));
    expect([{}, { contents: "read" }]).toContainEqual(permissions);
  });
});
