/** What is in the package, as its users have it: packed, and installed in an empty folder. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { OLDEST_NODE } from "../../runtime/node-version.ts";
import { ROOT } from "../architecture/sources.ts";
import { askDesk } from "../env/desk.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { pathOfNode } from "../env/package.ts";
import type { PackageOfRun } from "../env/package-of-run.ts";

const run = promisify(execFile);

describe("the package", () => {
  let app: string;
  let installed: string;

  async function command(program: string, ...args: string[]): Promise<string> {
    return (await run(program, args, { cwd: app, maxBuffer: 1 << 26 })).stdout;
  }
  const filesOf = (ending: string) =>
    readdirSync(installed, { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(ending));
  const read = (file: string) => readFileSync(join(installed, file), "utf8");

  beforeAll(async () => {
    ({ app } = await askDesk<PackageOfRun>(inject("packagePort")));
    installed = join(app, "node_modules/keyplane");
  });

  it("brings what it runs on, and nothing that only its development takes", async () => {
    const { components } = JSON.parse(await command("npm", "sbom", "--sbom-format=cyclonedx"));
    const all: string[] = components.map(({ name, version }: Record<string, string>) => `${name}@${version}`);
    const pinned = Object.entries(packageJson.dependencies).map((dependency) => dependency.join("@"));
    expect(all).toEqual(expect.arrayContaining([`keyplane@${packageJson.version}`, ...pinned]));
    const names = components.map(({ name }: Record<string, string>) => name);
    // Types come with the client for Kubernetes, as a dependency of its own.
    const ofDevelopment = Object.keys(packageJson.devDependencies).filter((name) => name !== "@types/node");
    expect(ofDevelopment.filter((name) => names.includes(name))).toEqual([]);
  });

  it("imports nothing that it does not declare", () => {
    const declared = Object.keys({ ...packageJson.dependencies, ...packageJson.peerDependencies });
    // It shows programs that import SDKs.
    const files = filesOf(".js").filter((file) => !file.endsWith("/console/keys/once/first-call.js"));
    const imported = files.flatMap((file) =>
      [...read(file).matchAll(/\b(?:from|import\() ?"([@a-z][\w./:@-]*)"/g)].map(([, from = ""]) =>
        from.split("/", from.startsWith("@") ? 2 : 1).join("/"),
      ),
    );
    expect(imported).toContain("@pulumi/pulumi");
    expect([...new Set(imported)].filter((name) => !isBuiltin(name) && !declared.includes(name))).toEqual([]);
  });

  it("has what its README leads to, and what those pages do, but for sources and tests", () => {
    const missing = (file: string) =>
      [...read(file).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, to = ""]) => to)
        .filter((to) => !/^https?:/.test(to) && !existsSync(join(installed, dirname(file), to)));
    expect(missing("README.md")).toEqual([]);
    const pages = filesOf(".md").filter((file) => !file.includes("node_modules"));
    expect(pages.length).toBeGreaterThan(40);
    expect(pages.flatMap(missing).filter((to) => !/\.ts$|\/(server|test)\//.test(to))).toEqual([]);
  });

  it("says on a Node.js that is too old, in one line, which one it takes", async () => {
    const env = { PATH: await pathOfNode("22.18.0") };
    const failed = await run(join(app, "node_modules/.bin/keyplane"), ["version"], { env }).catch((error) => error);
    expect(failed).toMatchObject({ code: 2, stdout: "" });
    expect(failed.stderr).toBe(
      `keyplane: Node.js ${OLDEST_NODE} or later is needed, and this is 22.18.0: install a later one\n`,
    );
  });

  // By day as Node.js itself resolves them, which takes most of the package's own `exports`, and by the quicker compiler.
  const compilers = [
    ["tsc-native", "nodenext"],
    ["typescript", "nodenext"],
    ["typescript", "bundler"],
  ] as const;
  it.each(compilers.slice(0, NIGHTLY ? undefined : 1))(
    "has declarations that take a right program and refuse a misspelt field or scope: %s, %s",
    async (compiler, resolution) => {
      const program = `
        import { PlatformKey } from "keyplane/pulumi";
        import * as kubernetes from "keyplane/pulumi/kubernetes";
        new kubernetes.PlatformKey("key", { spec: { scopes: ["memory:read"] } });
        new kubernetes.PlatformKey("key", { spec: { scopes: ["memory:reed"] } });
        new kubernetes.PlatformKey("key", { spec: { scope: ["memory:read"] } });
        new PlatformKey("key", { team: "research", scopes: ["memory:read"] });
        new PlatformKey("key", { team: "research", scopes: ["memory:reed"] });
        new PlatformKey("key", { team: "research", scope: ["memory:read"] });
      `;
      cpSync(join(installed, "examples/pulumi-kubernetes/index.ts"), join(app, "index.ts"));
      writeFileSync(join(app, "misspelt.ts"), program);
      const module = resolution === "nodenext" ? "nodenext" : "esnext";
      const resolving = ["--module", module, "--moduleResolution", resolution];
      const options = ["--noEmit", "--strict", "--target", "esnext", "--types", "node", ...resolving];
      const tsc = command(join(ROOT, "node_modules", compiler, "bin/tsc"), ...options, "index.ts", "misspelt.ts");
      expect((await tsc.catch(({ stdout }) => stdout)).trim().split("\n")).toEqual([
        expect.stringMatching(/^misspelt\.ts\(5,.*"memory:reed"/),
        expect.stringMatching(/^misspelt\.ts\(6,.*'scope' does not exist/),
        expect.stringMatching(/^misspelt\.ts\(8,.*"memory:reed"/),
        expect.stringMatching(/^misspelt\.ts\(9,.*'scope' does not exist/),
      ]);
    },
  );
});
