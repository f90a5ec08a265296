/** The guide to the first key, as a new user goes through it: the pages in a browser, the commands in a shell. */
import { execFile } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT, read } from "../architecture/sources.ts";
import { makeHome, startUpProcess, type UpProcess } from "../cli/up.ts";
import { openBrowser } from "../env/browser.ts";
import { until } from "../env/until.ts";

const run = promisify(execFile);
const home = makeHome();
let up: UpProcess;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  cpSync(join(ROOT, "examples/quickstart/manifests"), home.manifests, { recursive: true });
  [up, browser] = await Promise.all([startUpProcess(home), openBrowser()]);
  page = await browser.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
});
afterAll(async () => {
  await browser?.close();
  await up?.stop();
  home.remove();
});

const [another = "", reading = "", use = "", narrowed = "", exported = "", revoked = ""] = [
  ...read("docs/tutorials/first-key.md").matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, text]) => text);
/** How the guide has a shell read the key, and send it. */
const [sending = "", ...calls] = use.split("\n");

/** Every curl prints the status of its answer, in place of the answer. */
const CURL = `curl() { command curl -sS -o /dev/null -w '%{http_code}\\n' "$@"; }`;

/** What the commands print, with the key pasted where they wait for it. */
async function shell(key: string, commands: string): Promise<string[]> {
  const given = {
    "http://127.0.0.1:8080": up.url,
    "npm run --silent keyplane --": `${process.execPath} ${join(ROOT, "cli/main.ts")}`,
    "--data .keyplane": `--data ${home.data}`,
  };
  const text = [reading, sending, CURL, commands].join("\n");
  const pasted = Object.entries(given).reduce((all, [from, to]) => all.replaceAll(from, to), text);
  const running = run("bash", ["-c", pasted], { env: { PATH: process.env.PATH } });
  running.child.stdin?.end(`${key}\n`);
  return (await running).stdout.trim().split("\n");
}

/** The status of a call of the tool that writes. */
async function writeByMcp(key: string): Promise<number> {
  const answer = await fetch(`${up.url}/api/v1/memory/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "memory_save_atom", arguments: { content: "The deploy freeze ends on Monday." } },
    }),
  });
  await answer.text();
  return answer.status;
}

test("a new user signs in, makes a key, uses it, narrows it, takes it into Git and revokes it", async () => {
  const LINK = /^http:\S+\/dashboard\/sign-in\?link=\S+$/m;
  await page.goto(await until("the link", () => LINK.exec(up.output())?.[0]));
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("API keys");

  await page.context().clearCookies();
  await page.goto(LINK.exec((await shell("", another)).join("\n"))?.[0] ?? "");
  await page.getByRole("link", { name: "Create key" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("first-key");
  await page.getByLabel("Preset").selectOption("MCPReadWrite");
  await page.getByRole("button", { name: "Generate key" }).click();
  const key = await page.getByLabel("The key", { exact: true }).innerText();
  await page.getByRole("link", { name: "To the key's page" }).click();
  const keyPage = page.url();

  expect(await shell(key, calls.join("\n"))).toEqual(["200", "201", "200"]);
  expect(await writeByMcp(key)).toBe(200);

  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Preset").selectOption("MCPReadOnly");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "first-key" }).waitFor();
  expect(await shell(key, narrowed)).toEqual(["403", "200"]);
  expect(await writeByMcp(key)).toBe(403);

  await page.getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "Export as manifest" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).click(),
  ]);
  const manifest = readFileSync(await download.path(), "utf8");
  expect(manifest.trim()).toBe((await page.getByLabel("The manifest").innerText()).trim());
  expect(manifest).not.toContain(key);
  home.write(download.suggestedFilename(), manifest);
  await up.waitFor("research", "first-key", "Ready");
  expect(keyPage.endsWith(up.statusOf("research", "first-key").keyID)).toBe(true);
  const printed = await shell(key, exported);
  expect(printed.find((line) => line.includes("first-key"))).toMatch(/True/);
  expect(printed.at(-1)).toBe("200");
  await page.goto(keyPage);
  expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
  expect(await page.getByRole("region", { name: "Details" }).innerText()).toContain("research/first-key");
  await page.getByText("Taken over by PlatformKey research/first-key").waitFor();

  await page.getByRole("link", { name: "Revoke" }).click();
  await page.getByLabel("Name of the key").fill("first-key");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Revoked everywhere.").waitFor();
  expect(await shell(key, revoked)).toEqual(["401"]);
  expect(await writeByMcp(key)).toBe(401);
  expect(complaints).toEqual([]);
  expect(up.output()).not.toContain(key);
});
