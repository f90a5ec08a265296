/** The guides, each as its reader goes through it: files saved, commands run, statuses as the page says. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT, read } from "../architecture/sources.ts";
import { makeHome, startUp, type Up } from "../cli/up.ts";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import { scriptOf } from "../env/guide.ts";

const home = makeHome();
const folder = mkdtempSync(join(tmpdir(), "keyplane-guides-"));
let up: Up;

beforeAll(async () => {
  cpSync(join(ROOT, "examples/quickstart/manifests"), home.manifests, { recursive: true });
  up = await startUp(home);
  await up.waitFor("research", "docs-agent", "Ready");
});
afterAll(async () => {
  await up?.stop();
  home.remove();
  rmSync(folder, { recursive: true });
});

it.each(["rotation", "leaked-key", "own-key", "teams", "pull-requests", "from-hand-made-keys"])(
  "docs/guides/%s.md does what it says",
  async (name) => {
    const script = Object.entries({
      "http://127.0.0.1:8080": up.url,
      "npm run --silent keyplane --": `'${process.execPath}' '${join(ROOT, "cli/main.ts")}'`,
      ".keyplane/secrets": `${home.data}/secrets`,
      ".keyplane/bootstrap-token": `${home.data}/bootstrap-token`,
      "--data .keyplane": `--data ${home.data}`,
      "examples/quickstart/manifests": home.manifests,
    }).reduce((all, [from, to]) => all.replaceAll(from, to), scriptOf(read(`docs/guides/${name}.md`), home.manifests));
    const ended = await promisify(execFile)("bash", ["--norc", "-c", script], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...COMPILE_CACHE },
    }).catch((error: Error & { stdout: string; stderr: string }) => error.stdout + error.stderr);
    expect(ended).toMatchObject({ stdout: expect.any(String), stderr: "" });
  },
);
