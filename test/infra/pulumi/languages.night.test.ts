/**
 * The SDKs that Pulumi's generators make of our schema, and the program of each language's page with them, run by the
 * CLI as a program of that language drives it.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { compileGoSdk, compilePythonSdk, OLDEST_PULUMI } from "../../../scripts/pulumi-sdks.ts";
import { read } from "../../architecture/sources.ts";
import { blocksIn } from "../../env/blocks.ts";
import { findPulumiSdks } from "../../env/pulumi/cli.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { textsBelow } from "./files.ts";

const run = promisify(execFile);
const DRIVERS = join(import.meta.dirname, "drivers");
const GO_MODULE = "keyplane.dev/pulumi";

type Command = readonly [program: string, ...args: string[]];
type Language = {
  readonly name: string;
  readonly page: string;
  /** Compiles the SDK, as a release does, and a program in a folder: what runs it. */
  readonly prepare: (folder: string, program: string) => Promise<Command>;
};

const PYTHON: Language = {
  name: "python",
  page: "docs/guides/pulumi-python.md",
  async prepare(folder, program) {
    const { python, wheel } = await compilePythonSdk(await findPulumiSdks(), folder);
    const packages = [`pulumi==${OLDEST_PULUMI}`, wheel];
    await run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages]);
    await writeFile(join(folder, "program.py"), program);
    return [python, join(DRIVERS, "drive.py")];
  },
};

const GO: Language = {
  name: "go",
  page: "docs/guides/pulumi-go.md",
  async prepare(folder, program) {
    const sdk = await compileGoSdk(await findPulumiSdks(), folder);
    const ours = `require ${GO_MODULE} v0.0.0\nreplace ${GO_MODULE} => ${sdk}\n`;
    await writeFile(join(folder, "go.mod"), `module example.com/keys\n\ngo 1.26.0\n\n${ours}`);
    await writeFile(join(folder, "main.go"), program.replace("pulumi.Run(", "drive("));
    await copyFile(join(DRIVERS, "drive.go"), join(folder, "drive.go"));
    // As the SDK was compiled, which is found in Go's cache then.
    const options = { cwd: folder, env: { ...process.env, CGO_ENABLED: "0" } };
    await run("go", ["mod", "tidy"], options);
    await run("go", ["build", "-o", "keys", "."], options);
    return [join(folder, "keys")];
  },
};

describeOnPulumi("the generated SDKs", ({ makeWorkspace, cli, call }) => {
  it.each([PYTHON, GO])(
    "compile, and the page's program in $name is brought up and down",
    { timeout: 600_000 },
    async ({ name, page, prepare }) => {
      const program = blocksIn(read(page)).find(({ language }) => language === name)?.text;
      const { folder, env } = await makeWorkspace();
      const work = join(folder, "work");
      await mkdir(work);
      const [command, ...args] = await prepare(work, program ?? expect.fail(`${page} has none`));
      const child = spawn(command, args, {
        cwd: work,
        env: { ...env, PATH: `${dirname(cli)}:${env.PATH}` },
        stdio: ["pipe", "pipe", "inherit"],
      });
      const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), once(child, "exit")]);
      const outputs: Record<string, { value: string; secret: boolean }> = JSON.parse(line);
      expect(Object.keys(outputs).sort()).toEqual(["production", "reader"]);
      const keys = Object.values(outputs).map(({ value }) => value);
      for (const output of Object.values(outputs)) {
        expect(output).toEqual({ value: expect.stringMatching(/^inf_/), secret: true });
      }
      expect(await Promise.all(keys.map(call))).toEqual([200, 200]);
      expect(textsBelow(folder).filter(([, text]) => keys.some((key) => text.includes(key)))).toEqual([]);
      child.stdin.end("\n");
      if (child.exitCode === null) await once(child, "exit");
      expect(child.exitCode).toBe(0);
      expect(await Promise.all(keys.map(call))).toEqual([401, 401]);
    },
  );
});
