import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, mkdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import { RARE_COLLECTION } from "../env/go/go-program.ts";
import { describeOnPulumi } from "../env/pulumi.ts";

const run = promisify(execFile);
const EXAMPLE = join(import.meta.dirname, "../../examples/pulumi/run.ts");

describeOnPulumi("examples/pulumi", ({ cli, path, url, tokenFile }) => {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-example-test-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const example = (data: string, search: string) =>
    run(process.execPath, ["--conditions=keyplane-source", EXAMPLE, data], {
      env: { PATH: search, HOME: folder, ...RARE_COLLECTION, ...COMPILE_CACHE },
    });

  it("runs by one command: says what it will make, makes it, uses a key, and leaves nothing", async () => {
    const [data, bin] = [join(folder, "data"), join(folder, "bin")];
    await Promise.all([mkdir(data), mkdir(bin)]);
    writeFileSync(join(data, "server.json"), JSON.stringify({ url }));
    await copyFile(tokenFile, join(data, "bootstrap-token"));
    await symlink(cli, join(bin, "pulumi"));
    const { stdout } = await example(data, [bin, path].join(delimiter));
    expect(stdout).toMatch(/\+ 7 to create[\s\S]*\+ 7 created[\s\S]*- 7 deleted/);
    expect(stdout).toContain(`GET ${url}/atoms with the production key: 200`);
    expect(stdout).not.toMatch(/inf_[0-9A-Za-z]{57}/);
  });

  it("says what is missing", async () => {
    await expect(example(folder, path)).rejects.toThrow(/no keyplane up runs on .*: start one in another terminal/);
    const data = mkdtempSync(join(folder, "served-"));
    writeFileSync(join(data, "server.json"), JSON.stringify({ url }));
    await expect(example(data, "/nonexistent")).rejects.toThrow("this example needs the Pulumi CLI: install it");
  });
});
