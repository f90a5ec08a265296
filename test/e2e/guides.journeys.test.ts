/**
 * The guides, each as its reader goes through it, with what `npm start` brings up: files saved, commands run once, and
 * statuses and output as the page says.
 */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { type ModelStub, startModelStub } from "../../examples/model-stub/stub.ts";
import { ROOT, read } from "../architecture/sources.ts";
import { openShellCommand, type ShellCommand } from "../cli/shell-command.ts";
import { type Home, keyplane, makeHome, startUp, type Up } from "../cli/up.ts";
import { blocksIn } from "../env/blocks.ts";
import { firstUnprinted, printedBy, scriptOf } from "../env/guide.ts";

let stub: ModelStub;
let home: Home;
let folder: string;
let up: Up;
let command: ShellCommand;

beforeAll(async () => {
  [stub, command] = await Promise.all([startModelStub(), openShellCommand()]);
  home = makeHome();
  cpSync(join(ROOT, "examples/quickstart/manifests"), home.manifests, { recursive: true });
  const gateway = join(home.manifests, "gateway.yaml");
  writeFileSync(gateway, readFileSync(gateway, "utf8").replaceAll("http://127.0.0.1:9100", stub.url));
  up = await startUp(home);
  for (const name of ["docs-agent", "dashboard", "diarist", "chat-app"]) await up.waitFor("research", name, "Ready");
});
afterAll(async () => {
  await up?.stop();
  await Promise.all([stub.close(), command.close()]);
  home.remove();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-guides-"));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(ROOT);
  rmSync(folder, { recursive: true });
});

/** A text of a page, for a server and its folders. */
function here(text: string, { url }: { readonly url: string } = up, { data, manifests }: Home = home): string {
  return Object.entries({
    "http://127.0.0.1:8080": url,
    "http://127.0.0.1:9100": stub.url,
    "npm run --silent keyplane --": "keyplane",
    ".keyplane/secrets": `${data}/secrets`,
    ".keyplane/bootstrap-token": `${data}/bootstrap-token`,
    "--data .keyplane": `--data ${data}`,
    "examples/quickstart/manifests": manifests,
  }).reduce((all, [from, to]) => all.replaceAll(from, to), text);
}

/** Goes through a page as its reader does: it ends without an error, and prints what the page shows. */
async function follow(page: string, server: { readonly url: string } = up, of: Home = home): Promise<void> {
  const script = `${command.definition}\n${here(scriptOf(read(page), of.manifests), server, of)}`;
  const ended = await promisify(execFile)("bash", ["--norc", "-c", script], {
    cwd: folder,
    env: { PATH: process.env.PATH },
  }).catch((error: Error & { stdout: string; stderr: string }) => error.stdout + error.stderr);
  expect(ended).toMatchObject({ stdout: expect.any(String), stderr: "" });
  const { stdout } = ended as { stdout: string };
  expect(firstUnprinted(here(read(page), server, of), stdout), stdout).toBe(undefined);
  expect(statusesIn(stdout.split("\n"))).toEqual(statusesIn(printedBy(read(page))));
}

const statusesIn = (lines: readonly string[]): string[] => lines.filter((line) => /^\d{3}$/.test(line));

it.each([
  // Before the others leave keys behind that are made by hand: it takes over all of them.
  "docs/guides/from-hand-made-keys.md",
  "docs/guides/rotation.md",
  "docs/guides/refused-calls.md",
  "docs/guides/leaked-key.md",
  "docs/guides/memory-in-and-out.md",
  "docs/guides/own-key.md",
  "docs/guides/teams.md",
  "docs/guides/pull-requests.md",
  "docs/guides/gitops.md",
  "docs/guides/from-litellm-or-portkey.md",
  "docs/guides/search-by-meaning.md",
  "docs/guides/memory-of-users.md",
])("%s does what it says", async (page) => {
  await follow(page);
});

/** Its server has a price list, with which the refusals that other guides show would be others. */
it("docs/guides/budget-of-a-team.md does what it says", async () => {
  const page = "docs/guides/budget-of-a-team.md";
  const prices = join(folder, "prices.yaml");
  writeFileSync(prices, blocksIn(read(page))[0]?.text ?? "");
  expect(await keyplane(["validate", "--price-list", prices])).toMatchObject({ code: 0 });
  const priced = makeHome();
  onTestFinished(() => priced.remove());
  const server = await startUp(priced, { KEYPLANE_PRICES: prices });
  onTestFinished(async () => void (await server.stop()));
  await follow(page, server, priced);
});
