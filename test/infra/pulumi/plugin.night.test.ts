/** The archives of the provider that a release has, as the CLI installs and starts them. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { makePluginArchives } from "../../../scripts/pulumi-plugin.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";

const run = promisify(execFile);
const PROGRAM = `name: installed
runtime: yaml
resources:
  docs: { type: keyplane:PlatformTeam, properties: { name: installed } }
  reader: { type: keyplane:PlatformKey, properties: { team: "\${docs.name}", preset: MCPReadOnly } }
outputs:
  key: \${reader.secret}
`;

describeOnPulumi("the provider's archive", ({ makeWorkspace, call, cli, path }) => {
  it("is installed from a server, and brings a program up and down with what it holds alone", async () => {
    const { folder, env } = await makeWorkspace();
    const [archives, work, language] = ["archives", "work", "language"].map((name) => join(folder, name));
    if (archives === undefined || work === undefined || language === undefined) return expect.fail();
    const names = makePluginArchives(archives).map((archive) => basename(archive));
    expect(names).toContain(`pulumi-resource-keyplane-v${packageJson.version}-darwin-arm64.tar.gz`);
    const asked: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      asked.push(basename(url));
      // Pulumi asks for the length.
      const archive = readFileSync(join(archives, basename(url)));
      response.writeHead(200, { "content-length": archive.length }).end(archive);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    await Promise.all([work, language].map((place) => mkdir(place)));
    const [programs = ""] = path.split(delimiter);
    await symlink(join(programs, "pulumi-language-yaml"), join(language, "pulumi-language-yaml"));
    await writeFile(join(work, "Pulumi.yaml"), PROGRAM);
    // No provider is on the PATH.
    const PATH = [language, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
    const pulumi = (...args: string[]) =>
      run(cli, ["--non-interactive", ...args], { cwd: work, env: { ...env, PATH }, maxBuffer: 1 << 26 });
    const { port } = server.address() as AddressInfo;
    const from = ["--server", `http://127.0.0.1:${port}`];
    await pulumi("plugin", "install", "resource", "keyplane", packageJson.version, ...from);
    server.close();
    expect(names).toContain(asked.at(-1));
    await pulumi("stack", "init", "test");
    await pulumi("up", "--yes", "--skip-preview");
    const { stdout } = await pulumi("stack", "output", "key", "--show-secrets");
    expect(await call(stdout.trim())).toBe(200);
    await pulumi("destroy", "--yes", "--skip-preview");
    expect(await call(stdout.trim())).toBe(401);
  });
});
