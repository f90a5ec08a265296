import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProgram } from "./command-line.ts";
import { keyplane } from "./up.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-completion-"));
  // What a shell would offer of files is not ours.
  writeFileSync(join(folder, "plan-of-mine"), "");
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What the shell offers for the last of the words, by the script that it is given. */
type Complete = (script: string, words: readonly string[]) => string[];

/** As each shell itself asks for it; a word of bash's is what it has between blanks and equals signs. */
const SHELLS: Readonly<Record<string, Complete>> = {
  bash: (script, words) => {
    const complete = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _keyplane`;
    const ask = `${complete}; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run("bash", ["--norc", "-c", ask, "bash", script, "keyplane", ...words]);
  },
  fish: (script, words) => {
    const ask = `source ${script}; complete -C '${["keyplane", ...words].join(" ")}'`;
    return run("fish", ["--no-config", "-c", ask]).map((line) => line.split("\t")[0] ?? "");
  },
};

/** In an empty folder but for one file. */
function run(shell: string, args: readonly string[]): string[] {
  const out = execFileSync(shell, args, {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: folder },
  });
  return out.split("\n").filter((line) => line !== "");
}

/** bash is everywhere; where others are, they are asked too. */
const installed = Object.entries(SHELLS).filter(([shell]) => spawnSync(shell, ["--version"]).status === 0);

async function scriptFor(shell: string): Promise<string> {
  const { out } = await keyplane(["completion", shell]);
  const file = join(folder, shell);
  writeFileSync(file, out);
  return file;
}

describe.each(installed)("completion in %s", (shell, complete) => {
  test.each([
    ["a command by its beginning", ["pla"], ["plan"]],
    ["a flag of a command by its beginning", ["plan", "--det"], ["--detailed-exitcode"]],
    ["the values of a flag", ["plan", "-o", ""], ["json", "markdown", "text", "yaml"]],
    ["the values of a flag by their beginning", ["migrate", "--output", "j"], ["json"]],
    ["what an argument may be", ["completion", "z"], ["zsh"]],
    ["what an argument is most often", ["get", ""], ["all", "gateways", "keys", "libraries", "teams", "usage"]],
    ["the commands that help takes", ["help", "rot"], ["rotate"]],
  ])("offers %s", async (_, words, offers) => {
    expect(complete(await scriptFor(shell), words).sort()).toEqual(offers);
  });

  test("offers every command, and every flag of each", async () => {
    const script = await scriptFor(shell);
    const commands = (await makeProgram()).commands;
    const offered = complete(script, [""]);
    expect(offered).toEqual(expect.arrayContaining(commands.map((command) => command.name())));
    // What is deeper is completed as an argument.
    expect(commands.filter((command) => command.commands.length > 0)).toEqual([]);
    for (const command of commands.filter(({ options }) => options.length > 0)) {
      const flags = complete(script, [command.name(), "--"]);
      expect(flags).toEqual(expect.arrayContaining(command.options.map(({ long }) => long)));
    }
  });

  test("leaves the names of files to the shell, and offers nothing of its own for other values", async () => {
    const script = await scriptFor(shell);
    const ofOurs = (words: string[]) =>
      complete(script, words).filter((offer) => !["bash", "fish", "plan-of-mine"].includes(offer));
    expect(ofOurs(["plan", "--data", ""])).toEqual([]);
    expect(ofOurs(["scan", ""])).toEqual([]);
    expect(ofOurs(["up", "--port", ""])).toEqual([]);
  });
});

test("completion in bash offers the values of a flag that is written with an equals sign", async () => {
  const script = await scriptFor("bash");
  expect(SHELLS.bash?.(script, ["plan", "--output", "="])).toEqual(["text", "json", "yaml", "markdown"]);
  expect(SHELLS.bash?.(script, ["plan", "--output", "=", "m"])).toEqual(["markdown"]);
});

test.each(["zsh", "powershell"])("completion for %s has every command and flag, its words quoted", async (shell) => {
  const { code, out } = await keyplane(["completion", shell]);
  expect(code).toBe(0);
  const words = (await makeProgram()).commands.flatMap((command) => [
    command.name(),
    ...command.options.map(({ long }) => long),
  ]);
  expect(words.filter((word) => !out.includes(`'${word}`))).toEqual([]);
});

test("completion for another shell is wrong use, and says which there are", async () => {
  const { code, err } = await keyplane(["completion", "tcsh"]);
  expect([code, err]).toEqual([2, expect.stringContaining("bash, zsh, fish, powershell")]);
});
