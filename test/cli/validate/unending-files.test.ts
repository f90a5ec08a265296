/** Files that have no end, or never begin: each in a process of its own, which a reader without a bound would not end. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));
const TEAM =
  "apiVersion: keyplane.dev/v1alpha1\nkind: PlatformTeam\nmetadata: { name: a }\nspec: { namespaces: [team-a] }\n";
const TOO_LARGE = "the file is larger than 4 MiB: split it";

let folder: string;
let files: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-unending-"));
  files = join(folder, "files.yaml");
  writeFileSync(files, TEAM);
  symlinkSync(files, join(folder, "link.yml"));
  symlinkSync("/dev/zero", join(folder, "zero.yaml"));
  symlinkSync(tmpdir(), join(folder, "folder.yaml"));
  execFileSync("mkfifo", [join(folder, "pipe.json")]);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a command with a device as its standard input, for 30 seconds at most. */
async function run(...args: readonly string[]) {
  const line = 'exec "$0" "$@" < /dev/zero';
  const child = spawn("sh", ["-c", line, process.execPath, MAIN, ...args], { timeout: 30_000 });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, "close");
  return { code, said: `${await out}${await err}` };
}

test("b420: validate and plan read in a folder what is a file", async () => {
  const validated = await run("validate", "-f", folder);
  expect(validated).toMatchObject({ said: expect.stringContaining("2 manifests, 1 error"), code: 1 });
  expect(validated.said).toContain("is declared in");
  rmSync(join(folder, "link.yml"));
  const planned = await run("plan", "-f", folder, "--base", folder);
  expect(planned).toMatchObject({ code: 0 });
});

test.each([
  ["a device", "/dev/zero", 1],
  ["standard input", "/dev/stdin", 1],
  ["standard input as a dash", "-", 1],
])("b420: validate and plan read of %s that is named as much as a file may have", async (_what, path, code) => {
  expect(await run("validate", "-f", path)).toMatchObject({ said: expect.stringContaining(TOO_LARGE), code });
  expect((await run("plan", "-f", path, "--base", files)).said).toContain(TOO_LARGE);
});

test("b420: validate reads of a price list as much as it may have", async () => {
  const { code, said } = await run("validate", "--price-list", "/dev/zero");
  expect([code, said]).toEqual([1, expect.stringContaining("is larger than 1 MiB")]);
});

test("a pipe that is named is read to its end", async () => {
  const pipe = join(folder, "pipe.json");
  const writing = spawn("sh", ["-c", 'cat "$0" > "$1"', files, pipe]);
  const written = once(writing, "close");
  expect(await run("validate", "-f", pipe)).toMatchObject({
    said: expect.stringContaining("1 manifest, 0 errors"),
    code: 0,
  });
  await written;
});
