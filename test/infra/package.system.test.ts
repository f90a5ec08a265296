/** The package as its users have it: packed, installed by tar into an empty folder without a network, run by plain Node. */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { filesBelow, ROOT } from "../architecture/sources.ts";
import { freshDatabase } from "../env/engines.ts";
import { startServing } from "../env/serving.ts";

const run = promisify(execFile);

describe("the package", () => {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-package-"));
  const app = join(folder, "app");
  const installed = join(app, "node_modules/keyplane");

  async function command(cwd: string, program: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, npm_config_offline: "true" };
    const { stdout } = await run(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  }

  beforeAll(async () => {
    await command(ROOT, "npm", "pack", "--silent", "--pack-destination", folder);
    mkdirSync(installed, { recursive: true });
    const tarball = join(folder, `keyplane-${packageJson.version}.tgz`);
    await command(folder, "tar", "--extract", "--gzip", `--file=${tarball}`, `--directory=${installed}`, "--strip=1");
    // In the registry's place: what the checkout has installed is found one folder further up.
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const dependencies = { keyplane: packageJson.version };
    writeFileSync(join(app, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
    await command(app, "npm", "rebuild", "--silent", "--ignore-scripts");
    cpSync(join(installed, "examples/pulumi-kubernetes/index.ts"), join(app, "index.ts"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("has the command, which tells its version and validates manifests", async () => {
    expect(await command(app, "npx", "keyplane", "--version")).toBe(`${packageJson.version}\n`);
    const manifests = join(ROOT, "examples/quickstart/manifests");
    expect(await command(app, "npx", "keyplane", "validate", "-f", manifests)).toMatch(/^\d+ manifests, 0 errors/);
  });

  it("migrates a database and serves it with several workers", async () => {
    const database = await freshDatabase();
    const env = { KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64") };
    const flags = ["--database-url", database.url, "--workers", "2", "--port", "0", "--admin-port", "0"];
    try {
      await command(app, "npx", "keyplane", "migrate", "--database-url", database.url);
      const serving = await startServing(["server", ...flags], env, [], join(app, "node_modules/.bin/keyplane"));
      expect((await fetch(`${serving.url}/atoms`)).status).toBe(401);
      expect(await serving.stop()).toBe(0);
    } finally {
      await database.drop();
    }
  });

  it("runs Pulumi programs on plain Node", async () => {
    const program = `
      import { runtime } from "@pulumi/pulumi";
      import { PlatformKey } from "keyplane/pulumi";
      const newResource = ({ name, inputs }) => ({ id: name, state: { ...inputs, prefix: "inf_12345678" } });
      await runtime.setMocks({ newResource, call: ({ inputs }) => inputs });
      const { docsAgentSecret } = await import("./index.ts");
      docsAgentSecret.apply((ref) => console.log(JSON.stringify(ref)));
      new PlatformKey("key", { team: "research", preset: "MCPReadOnly" }).prefix.apply(console.log);
    `;
    writeFileSync(join(app, "run.js"), program);
    const lines = (await command(app, "node", "run.js")).trim().split("\n");
    expect(lines.toSorted()).toEqual(["inf_12345678", '{"name":"docs-agent","key":"api-key"}']);
  });

  it("has the provider, which tells Pulumi's engine its port", async () => {
    const child = spawn(join(app, "node_modules/.bin/pulumi-resource-keyplane"), ["127.0.0.1:1"]);
    const ended = once(child, "exit");
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    expect(line).toMatch(/^\d+$/);
    child.kill();
    expect(await ended).toEqual([0, null]);
  });

  it("has declarations that take a right program and refuse a misspelt field or scope", async () => {
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
    writeFileSync(join(app, "misspelt.ts"), program);
    const options = ["--noEmit", "--strict", "--target", "esnext", "--module", "nodenext", "--types", "node"];
    const typed = await command(app, "npx", "tsc", ...options, "index.ts", "misspelt.ts").catch(({ stdout }) => stdout);
    expect(typed.trim().split("\n")).toEqual([
      expect.stringMatching(/^misspelt\.ts\(5,.*"memory:reed"/),
      expect.stringMatching(/^misspelt\.ts\(6,.*'scope' does not exist/),
      expect.stringMatching(/^misspelt\.ts\(8,.*"memory:reed"/),
      expect.stringMatching(/^misspelt\.ts\(9,.*'scope' does not exist/),
    ]);
  });

  it("imports nothing that it does not declare", () => {
    const declared = Object.keys({ ...packageJson.dependencies, ...packageJson.peerDependencies });
    const imported = filesBelow("dist", ".js").flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(/\b(?:from|import\() ?"([@a-z][\w./:@-]*)"/g)].map(
        ([, from = ""]) => from.split("/", from.startsWith("@") ? 2 : 1).join("/"),
      ),
    );
    expect(imported).toContain("@pulumi/pulumi");
    expect([...new Set(imported)].filter((name) => !isBuiltin(name) && !declared.includes(name))).toEqual([]);
  });
});
