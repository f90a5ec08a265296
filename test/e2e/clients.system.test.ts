/**
 * docs/clients.md with the programs themselves, of the versions that it names, from npm's and Python's registries. The
 * largest are for the night. None of them has a model, or an account.
 */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NIGHTLY } from "../env/nightly.ts";
import { type ClientsPage, openClientsPage } from "./clients-page.ts";
import { isInstalled, type ModelClients, modelClients } from "./model-clients.ts";
import { expectedOf } from "./tried-models.ts";

const run = promisify(execFile);
/** What runs finds what has been installed, and fetches nothing. */
const OFFLINE = { npm_config_offline: "true", npm_config_loglevel: "error" };

const folder = mkdtempSync(join(tmpdir(), "keyplane-programs-"));
let page: ClientsPage;
beforeAll(async () => {
  page = await openClientsPage();
});
afterAll(async () => {
  await page.close();
  rmSync(folder, { recursive: true });
});

/** Installs the packages that a section names: where they are, and their programs. */
async function programsOf(heading: string): Promise<{ modules: string; path: string }> {
  const modules = await modulesOf(heading, page.triedWith(heading));
  return { modules, path: join(modules, ".bin") };
}

/** Installs packages of npm's, in a folder of this name. */
async function modulesOf(name: string, packages: readonly string[]): Promise<string> {
  const home = join(folder, name);
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), '{ "private": true }');
  expect(packages).not.toEqual([]);
  await run("npm", ["install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", ...packages], { cwd: home });
  return join(home, "node_modules");
}

let pip: Promise<string> | undefined;
/** The pip that installs all packages of Python's: to put one into each environment takes longer than most packages. */
function findPip(): Promise<string> {
  const venv = join(folder, "pip");
  pip ??= run("python3", ["-m", "venv", venv]).then(() => join(venv, "bin/pip"));
  return pip;
}

/** Installs packages of Python's, in a folder of this name: where their programs are. Python compiles what it imports. */
async function pythonWith(name: string, packages: readonly string[]): Promise<string> {
  const venv = join(folder, name);
  await run("python3", ["-m", "venv", "--without-pip", venv]);
  const options = ["--quiet", "--disable-pip-version-check", "--no-compile"];
  await run(await findPip(), ["--python", join(venv, "bin/python"), "install", ...options, ...packages]);
  return join(venv, "bin");
}

/** Tries each row of a client with the packages that the table names. */
async function tryAll({ title, program, packages, rows }: ModelClients): Promise<void> {
  const found = program.endsWith(".py")
    ? { interpreter: join(await pythonWith(title, packages), "python") }
    : { modules: await modulesOf(title, packages) };
  for (const row of rows) {
    expect(await page.tryModels(program, row, found), row.name).toEqual(expectedOf(program, row));
  }
}

/** Milliseconds, for what hangs: how long a registry takes is not a client's. */
const INSTALLED = 1_800_000;

/** Those that are not installed with the project itself. */
const FETCHED_CLIENTS = modelClients().filter((one) => !isInstalled(one));

describe("docs/clients.md", () => {
  it("has Claude Desktop start what lists the tools", async () => {
    const { modules } = await programsOf("Claude Desktop");
    const reader = await page.follow("Claude Desktop", { modules, keyFiles: [".keyplane-api-key"] });
    const [, file = ""] = /```json\n([\s\S]*?)```/.exec(page.section("Claude Desktop")) ?? [];
    const { command, args } = JSON.parse(file).mcpServers.keyplane;
    const env = { ...OFFLINE, HOME: reader, PATH: process.env.PATH ?? "" };
    const client = new Client({ name: "claude-desktop", version: "1.0.0" });
    await client.connect(new StdioClientTransport({ command, args, env, cwd: reader, stderr: "ignore" }));
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.map(({ name }) => name)).toContain("memory_wake_up");
  });
});

// Gigabytes. What is left out of a run by day would fail the gate, so there it is not.
if (NIGHTLY) {
  describe("docs/clients.md, at night", () => {
    it(
      "has programs in Python that do what it says",
      async () => {
        await page.follow("Python", { path: await pythonWith("python", page.triedWith("Python")) });
      },
      INSTALLED,
    );

    it("has the inspector call tools, by the file of a Secret", async () => {
      const { modules } = await programsOf("The inspector");
      await page.follow("mcp.json in two minutes");
      await page.follow("The inspector", { modules, env: { ...OFFLINE, MCP_INSPECTOR_SECRET_STORE: "memory" } });
    });

    it("has Claude Code connect", async () => {
      const { path } = await programsOf("Claude Code");
      await page.follow("Claude Code", { path, env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" } });
    });

    it("has Gemini CLI connect", async () => {
      const { path } = await programsOf("Gemini CLI");
      await page.follow("Gemini CLI", { path, env: { GEMINI_CLI_TRUST_WORKSPACE: "true" } });
    });

    it.each(FETCHED_CLIENTS)("has base URLs with which $title does all of its operations", tryAll, INSTALLED);

    it("has opencode connect", async () => {
      const { path } = await programsOf("opencode");
      await page.follow("opencode", { path });
    });

    it("has Codex list the tools", async () => {
      const { path } = await programsOf("Codex");
      const reader = await page.follow("Codex", { path });
      const tools = await toolsOfCodex(path, reader);
      expect(tools).toContain("memory_wake_up");
    });
  });
}

/** What `/mcp` shows: by the protocol of Codex's own windows, since its commands do not connect. */
async function toolsOfCodex(path: string, home: string): Promise<string[]> {
  const key = page.section("The key").match(/cat (\S+api-key)/)?.[1] ?? "";
  const script = `KEYPLANE_API_KEY=$(cat ${key}) exec "$0" app-server`;
  const child = spawn("bash", ["--norc", "-c", script, join(path, "codex")], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const clientInfo = { name: "reader", title: "Reader", version: "1" };
  for (const message of [
    { id: 0, method: "initialize", params: { clientInfo } },
    { method: "initialized" },
    { id: 1, method: "mcpServerStatus/list", params: {} },
  ]) {
    child.stdin.write(`${JSON.stringify(message)}\n`);
  }
  try {
    for await (const line of createInterface(child.stdout)) {
      const { id, result } = JSON.parse(line);
      if (id === 1) return Object.keys(result.data[0].tools);
    }
  } finally {
    child.kill();
  }
  return [];
}
