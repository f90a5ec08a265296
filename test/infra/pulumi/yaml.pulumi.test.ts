import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { read } from "../../architecture/sources.ts";
import { blocksIn } from "../../env/blocks.ts";
import { scriptOf } from "../../env/guide.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { textsBelow } from "./files.ts";

const run = promisify(execFile);
const PAGE = "docs/guides/pulumi-yaml.md";

describeOnPulumi("docs/guides/pulumi-yaml.md", ({ makeWorkspace, makeProject, call, cli, path, url, tokenFile }) => {
  it("can be followed from its first line to its last, with each secret encrypted", async () => {
    const { folder, env } = await makeWorkspace();
    const work = join(folder, "work");
    const bin = join(work, "node_modules/.bin");
    await mkdir(bin, { recursive: true });
    const [programs = ""] = path.split(delimiter);
    await symlink(join(programs, "pulumi-resource-keyplane"), join(bin, "pulumi-resource-keyplane"));
    // Where the page's program says, and nowhere else.
    const language = join(folder, "language");
    await mkdir(language);
    await symlink(join(programs, "pulumi-language-yaml"), join(language, "pulumi-language-yaml"));
    const script = scriptOf(read(PAGE), ".")
      .replaceAll("https://keys.example.com", url)
      .replaceAll("/var/run/secrets/keyplane/token", tokenFile);
    const PATH = [language, dirname(cli), ...path.split(delimiter).slice(1)].join(delimiter);
    const { stdout } = await run("bash", ["-c", script], { cwd: work, env: { ...env, PATH }, maxBuffer: 1 << 26 });
    expect(["8 created", "1 updated", "8 deleted"].filter((text) => !stdout.includes(text))).toEqual([]);
    const keys = stdout.split("\n").filter((line) => line.startsWith("inf_"));
    expect(new Set(keys).size).toBe(2);
    expect(await Promise.all(keys.map(call))).toEqual([401, 401]);
    expect(textsBelow(folder).filter(([, text]) => keys.some((key) => text.includes(key)))).toEqual([]);
  });

  it("names the properties that there are where one is misspelt", async () => {
    const program = blocksIn(read(PAGE)).find(({ language }) => language === "yaml")?.text ?? "";
    // Here the CLI finds the provider on the PATH.
    const misspelt = program.replace(/^plugins:\n(?: .*\n)+/m, "").replaceAll("libraryAccess:", "library:");
    const project = await makeProject({ "Pulumi.yaml": misspelt });
    const { out, failed } = await project.cli("preview");
    expect(failed).toBe(true);
    expect(out).toContain("libraryAccess");
  });
});
