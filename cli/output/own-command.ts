import { existsSync, realpathSync } from "node:fs";
import { delimiter, extname, isAbsolute, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Environment } from "../../domain/environment.ts";
import { redactKeys } from "../../domain/redact.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { plainText } from "./plain-text.ts";

/** The program's own file: beside this one, as source or compiled. */
const MAIN = join(import.meta.dirname, `../main${extname(import.meta.filename)}`);

/**
 * How a shell calls this program, in whatever folder: `keyplane` where that is what the path finds, else by its file. What
 * npm and npx put before the path of what they run is not on the path of the shell.
 */
export function ownCommand({ PATH = "" }: Environment): string {
  const folders = PATH.split(delimiter).filter(
    (folder) => isAbsolute(folder) && !/\/node_modules\/\.bin\/?$/.test(folder),
  );
  const found = folders.map((folder) => join(folder, "keyplane")).find((file) => existsSync(file));
  if (found !== undefined && realpathSync(found) === realpathSync(MAIN)) return "keyplane";
  return `${shellWord(process.execPath)} ${shellWord(MAIN)}`;
}

/** Where a command looks, as its flags say; what variables say holds in the same shell without a word. */
export type Place = {
  readonly data?: string | undefined;
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
};

/** A command of this program that looks at the same place, for a shell in whatever folder. */
export function commandAt(place: Place, env: Environment, words: string): string {
  const { data, server, tokenFile, kubeconfig, context } = place;
  const flags = [
    ["--data", data && resolve(data)],
    ["--server", server],
    ["--token-file", tokenFile && resolve(tokenFile)],
    ["--kubeconfig", kubeconfig && resolve(kubeconfig)],
    ["--context", context],
  ].flatMap(([flag, value]) => (value === undefined || value === "" ? [] : [`${flag} ${shellWord(value)}`]));
  return [ownCommand(env), words, ...flags].join(" ");
}

/** As errors name the commands that look at a place; none of their flags stands there. */
const NAMED = /(?<=\bsee )keyplane ((?:get|describe|doctor)\b(?: \w[\w.-]*(?:\/[\w.-]+)*)*)(?! [-\w])/g;

/**
 * Completes the commands that an error names with where the command that failed has looked.
 *
 * @param args of the command that failed
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
  const place = {
    ...{ data: given("data"), server: given("server"), tokenFile: given("token-file") },
    ...{ kubeconfig: given("kubeconfig"), context: given("context") },
  };
  return text.replaceAll(NAMED, (_, words: string) => {
    const asked = words === "doctor" ? { ...place, context: undefined } : place;
    return plainText(redactKeys(commandAt(asked, env, words)));
  });
}
