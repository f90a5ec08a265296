import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { completeCommands, ownCommand } from "../../../cli/output/own-command.ts";
import { ROOT } from "../../architecture/sources.ts";

function makeFolder(name = "bin"): string {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-own-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, name), { recursive: true });
  return join(folder, name);
}

test("The program is called by its name where the path leads to it, and by its file where it does not", async () => {
  const [installed, another, ofNpm] = [makeFolder(), makeFolder(), makeFolder("node_modules/.bin")];
  for (const folder of [installed, ofNpm]) symlinkSync(join(ROOT, "cli/main.ts"), join(folder, "keyplane"));
  writeFileSync(join(another, "keyplane"), "");
  const called = (...folders: string[]) => ownCommand({ PATH: folders.join(":") });
  expect(called("/nowhere", installed, another)).toBe("keyplane");
  const byFile = called();
  expect(called(another, installed)).toBe(byFile);
  // Before the path of what npm runs, and not on that of the shell.
  expect(called(ofNpm)).toBe(byFile);
  expect(called("", ".", "node_modules/.bin")).toBe(byFile);
  const { stdout } = await promisify(execFile)("sh", ["-c", `${byFile} version`], { cwd: installed });
  expect(stdout).toMatch(/\d+\.\d+\.\d+/);
});

const own = ownCommand({});

test.each<[what: string, said: string, args: string[], shown: string]>([
  [
    "a data folder, from wherever it is named",
    "there is no key dev/none: see keyplane get keys; there is no key dev/x: see keyplane get keys",
    ["get", "keys", "dev/none", "dev/x", "--data", "my data"],
    `there is no key dev/none: see ${own} get keys --data '${join(process.cwd(), "my data")}'; there is no key dev/x: see ${own} get keys --data '${join(process.cwd(), "my data")}'`,
  ],
  [
    "a server, and the file of its token",
    "not every replica has confirmed it: see keyplane doctor",
    ["revoke", "dev/reader", "--server=https://keys.example.com", "--token-file", "/run/token"],
    `not every replica has confirmed it: see ${own} doctor --server 'https://keys.example.com' --token-file /run/token`,
  ],
  [
    "a cluster, with what is to be described",
    "key dev/a is in no Secret of ours (Pending): see keyplane describe key dev/a",
    ["env", "dev/a", "--context", "prod", "-o", "json"],
    `key dev/a is in no Secret of ours (Pending): see ${own} describe key dev/a --context prod`,
  ],
  [
    "nothing that looks like a key",
    "see keyplane get keys",
    ["get", "--data", `/inf_${"x".repeat(57)}`],
    `see ${own} get keys --data /inf_...`,
  ],
  ["no flag in a text that has its own", "see keyplane get --help", ["get", "--data", "d"], "see keyplane get --help"],
  ["no other command", "start it: keyplane up", ["get", "--data", "d"], "start it: keyplane up"],
])("An error names a command with where the failed one has looked: %s", (_, said, args, shown) => {
  expect(completeCommands(said, args, {})).toBe(shown);
});
