import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Writes the name of each package that is loaded to standard error. */
const REPORT_LOADED = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({ load(url, context, next) {
    const [, name] = /node_modules.([a-z-]+)/.exec(url) ?? [];
    if (name !== undefined) process.stderr.write(name + "\\n");
    return next(url, context);
  } });`)}`;

async function loadedBy(...args: readonly string[]): Promise<string[]> {
  const { stderr } = await promisify(execFile)(process.execPath, ["--import", REPORT_LOADED, "cli/main.ts", ...args]);
  return stderr.trim().split("\n");
}

test("a command loads nothing that only others need: to load all of it takes several times as long", async () => {
  expect(await loadedBy("init", "--help")).not.toContain("kysely");
  expect(await loadedBy("migrate", "--help")).toEqual(expect.arrayContaining(["kysely", "pg"]));
});
