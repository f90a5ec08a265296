import { existsSync, realpathSync } from "node:fs";
import { delimiter, extname, isAbsolute, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Environment } from "../../domain/environment.ts";
import { redactKeys } from "../../domain/redact.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { plainText } from "./plain-text.ts";

/** File of the program's entry point, above this folder, as source or compiled. */
const MAIN = join(import.meta.dirname, `../main${extname(import.meta.filename)}`);

/**
 * Returns the command by which a shell calls this program from any folder: `keyplane` if the path finds it, else its
 * file. Folders that npm and npx add to the path of what they run are ignored, since the shell does not have them.
 */
export function ownCommand({ PATH = "" }: Environment): string {
  const folders = PATH.split(delimiter).filter(
    (folder) => isAbsolute(folder) && !/\/node_modules\/\.bin\/?$/.test(folder),
  );
  const found = folders.map((folder) => join(folder, "keyplane")).find((file) => existsSync(file));
  if (found !== undefined && realpathSync(found) === realpathSync(MAIN)) return "keyplane";
  return `${shellWord(process.execPath)} ${shellWord(MAIN)}`;
}

/** Flags that say where a command looks. Variables are left out: they apply in the same shell anyway. */
export type CommandTarget = {
  readonly data?: string | undefined;
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
};

/** Returns a command of this program that looks at the same place, for a shell in any folder. */
export function commandAt(target: CommandTarget, env: Environment, words: string): string {
  const { data, server, tokenFile, kubeconfig, context } = target;
  const flags = [
    ["--data", data && resolve(data)],
    ["--server", server],
    ["--token-file", tokenFile && resolve(tokenFile)],
    ["--kubeconfig", kubeconfig && resolve(kubeconfig)],
    ["--context", context],
  ].flatMap(([flag, value]) => (value === undefined || value === "" ? [] : [`${flag} ${shellWord(value)}`]));
  return [ownCommand(env), words, ...flags].join(" ");
}

/** Pattern of a command in an error message that says where to look, without flags. */
const NAMED = /(?<=\bsee )keyplane ((?:get|describe|doctor)\b(?: \w[\w.-]*(?:\/[\w.-]+)*)*)(?! [-\w])/g;

/**
 * Adds flags to the commands in an error message, so that they look where the failed command looked.
 *
 * @param args arguments of the failed command
 */
export function completeCommands(text: string, args: readonly string[], env: Environment): string {
  const options = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { data: options, server: options, "token-file": options, kubeconfig: options, context: options },
    strict: false,
  });
  const given = (flag: keyof typeof values) => {
    const value = values[flag];
    return typeof value === "string" ? value : undefined;
  };
  const target = {
    ...{ data: given("data"), server: given("server"), tokenFile: given("token-file") },
    ...{ kubeconfig: given("kubeconfig"), context: given("context") },
  };
  return text.replaceAll(NAMED, (_, words: string) => {
    const asked = words === "doctor" ? { ...target, context: undefined } : target;
    return plainText(redactKeys(commandAt(asked, env, words)));
  });
}
