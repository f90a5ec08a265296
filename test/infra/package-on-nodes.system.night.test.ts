/** The package as its users have it: packed, installed in an empty folder, and run by each Node.js that it promises. */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it, type TestContext } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { OLDEST_NODE } from "../../runtime/node-version.ts";
import { ROOT } from "../architecture/sources.ts";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import { copyEmbedded } from "../env/database/embedded-database.ts";
import { freshDatabase } from "../env/database/engines.ts";
import { askDesk } from "../env/desk.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { COMMIT, install, pathOfNode } from "../env/package.ts";
import type { PackageOfRun } from "../env/package-of-run.ts";
import { readyUrl } from "../env/serving.ts";
import { until } from "../env/until.ts";

const run = promisify(execFile);
/** By day the oldest alone: the tests of all else run on the newest. */
const NODES = NIGHTLY ? [OLDEST_NODE, "24.0.0", packageJson.devDependencies.node] : [OLDEST_NODE];
const MANIFESTS = join(ROOT, "examples/quickstart/manifests");
/** As npx runs it, which takes as long again to find it. */
const COMMAND = "node_modules/.bin/keyplane";
const ANY_PORTS = ["--port", "0", "--admin-port", "0"];

const folder = mkdtempSync(join(tmpdir(), "keyplane-package-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(NODES)("the package on Node.js %s", (version) => {
  let app: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    const path = await pathOfNode(version);
    env = { ...process.env, ...COMPILE_CACHE, PATH: path, npm_config_offline: "true" };
    const packed = await askDesk<PackageOfRun>(inject("packagePort"));
    app = version === OLDEST_NODE ? packed.app : await install(packed.tarball, join(folder, version), path);
  });

  async function command(program: string, ...args: string[]): Promise<string> {
    return (await run(program, args, { cwd: app, env })).stdout;
  }

  /** Starts what says that it is ready, in a group of its own, which ends with the test. */
  async function start(context: TestContext, program: string, args: readonly string[], more: Record<string, string>) {
    const options = { cwd: app, env: { ...env, KEYPLANE_HOST: "127.0.0.1", ...more }, detached: true } as const;
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(child, "close").then(([code]) => code);
    const stop = () => {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      return ended;
    };
    context.onTestFinished(stop);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
    const url = await until(`${args.join(" ")} is ready`, () => {
      if (child.exitCode !== null) throw new Error(output);
      return output
        .split("\n")
        .map(readyUrl)
        .find((found) => found !== undefined);
    });
    return { url, stop, said: () => output };
  }

  it("has the command, which shows what is built in and validates manifests", async () => {
    expect(await command("npx", "keyplane", "--version")).toBe(`${packageJson.version}\n`);
    const builtIn = JSON.parse(await command(COMMAND, "version", "-o", "json"));
    expect(builtIn).toMatchObject({ version: packageJson.version, commit: COMMIT, node: version });
    expect(await command(COMMAND, "validate", "-f", MANIFESTS)).toMatch(/^\d+ manifests, 0 errors/);
  });

  it("brings the quickstart up with npx, and its keys work", async (context) => {
    // By day it finds a database that was made before: what a first start does is the same on every Node.js.
    if (!NIGHTLY) await copyEmbedded(join(app, "data/db"));
    const args = ["keyplane", "up", "--manifests", MANIFESTS, "--data", "data", ...ANY_PORTS];
    const { url, said } = await start(context, "npx", args, {});
    const status = async (key: string) =>
      (await fetch(`${url}/atoms`, { headers: { authorization: `Bearer ${key}` } })).status;
    const key = () => readFileSync(join(app, "data/secrets/research/docs-agent/api-key"), "utf8");
    await until("the key works", async () => (await status(key())) === 200);
    expect(await status(`${key()}x`)).toBe(401);
    expect(said()).not.toMatch(/warning/i);
  });

  it("migrates a database, serves it with several workers, and drains", async (context) => {
    const database = await freshDatabase();
    context.onTestFinished(database.drop);
    const settings = {
      KEYPLANE_DATABASE_URL: database.url,
      KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    };
    await command(COMMAND, "migrate", "--database-url", database.url);
    const { url, stop } = await start(context, COMMAND, ["server", "--workers", "2", ...ANY_PORTS], settings);
    expect((await fetch(`${url}/atoms`)).status).toBe(401);
    expect(await stop()).toBe(0);
  });

  it("runs Pulumi programs", async () => {
    const program = `
      import { runtime } from "@pulumi/pulumi";
      import { PlatformKey } from "keyplane/pulumi";
      const newResource = ({ name, inputs }) => ({ id: name, state: { ...inputs, prefix: "inf_12345678" } });
      await runtime.setMocks({ newResource, call: ({ inputs }) => inputs });
      const { PlatformKey: Declared } = await import("keyplane/pulumi/kubernetes");
      const metadata = { name: "docs-agent", namespace: "research" };
      const declared = new Declared("docs-agent", { metadata, spec: { preset: "MCPReadOnly" } });
      declared.secretRef.apply((ref) => console.log(JSON.stringify(ref)));
      new PlatformKey("key", { team: "research", preset: "MCPReadOnly" }).prefix.apply(console.log);
    `;
    writeFileSync(join(app, "run.js"), program);
    const lines = (await command("node", "run.js")).trim().split("\n");
    expect(lines.toSorted()).toEqual(["inf_12345678", '{"name":"docs-agent","key":"api-key"}']);
  });

  it("has the provider, which gives Pulumi's engine its port", async () => {
    const child = spawn("node_modules/.bin/pulumi-resource-keyplane", ["127.0.0.1:1"], { cwd: app, env });
    const ended = once(child, "exit");
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    expect(line).toMatch(/^\d+$/);
    child.kill();
    expect(await ended).toEqual([0, null]);
  });
});
