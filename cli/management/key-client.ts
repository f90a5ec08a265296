/**
 * Choice of a server and a key, for commands that call the API as the key's holder. The key comes from a file or
 * standard input only.
 */
import { text } from "node:stream/consumers";
import { isSubject, SUBJECT_CHARACTERS } from "../../domain/access/subject.ts";
import type { Environment } from "../../domain/environment.ts";
import { setting } from "../../runtime/settings.ts";
import type { CliCommand } from "../command/cli-command.ts";
import { STDIN } from "../command/command.ts";
import { readFlagFile } from "../command/config.ts";
import { UsageError } from "../command/usage-error.ts";
import type { Target } from "./api-call.ts";
import { chooseServer, type ServerChoice } from "./management-client.ts";

export type KeyChoice = Pick<ServerChoice, "server" | "data"> & {
  readonly keyFile?: string | undefined;
  readonly subject?: string | undefined;
};

export function keyOption(command: CliCommand): CliCommand {
  return command.setting("--key-file <file>", "a file with the key; - is standard input");
}

/** Adds the options of a command that calls a server with a key only. */
export function askAsKey(command: CliCommand): CliCommand {
  return keyOption(command)
    .setting("--server <url>", "the server's URL")
    .setting("--data <dir>", "instead, the data folder of a running keyplane up");
}

/** Adds the options of a command that calls for memory, which may be one subject's. */
export function askForMemory(command: CliCommand): CliCommand {
  return askAsKey(command).option("--subject <name>", "whose memory, with a key that serves many subjects");
}

/**
 * Opens a server with a key.
 *
 * @throws UsageError if either is missing or invalid
 */
export async function openAsKey(env: Environment, flags: KeyChoice): Promise<Target> {
  const file = setting(env, "key-file", flags.keyFile);
  if (file === undefined) {
    throw new UsageError("--key-file is needed, or the variable KEYPLANE_KEY_FILE: the file that holds the key, or -");
  }
  const { subject } = flags;
  if (subject !== undefined && !isSubject(subject)) {
    throw new UsageError(`--subject takes ${SUBJECT_CHARACTERS}`);
  }
  const { url } = await chooseServer(env, flags);
  const refused = `${url} refuses this key: it is not known there, or it is suspended, expired or revoked`;
  return { url, credential: await readKeyFile(file), refused, subject };
}

/**
 * Refuses superfluous arguments. They are not repeated, since they may be a key.
 *
 * @throws UsageError
 */
export function refuseArguments(command: string, args: readonly string[]): void {
  if (args.length === 0) return;
  throw new UsageError(
    `${command} takes no such argument, and a key belongs on no command line, which others can list: give it by --key-file FILE, or - for standard input`,
  );
}

/** Reads a key out of a file, or `-` for standard input. @throws UsageError if it holds none */
export async function readKeyFile(file: string): Promise<string> {
  if (file.startsWith("inf_")) {
    throw new UsageError(
      "--key-file takes the file that holds the key, and not the key: others can list command lines",
    );
  }
  const key = (await (file === STDIN ? text(process.stdin) : readFlagFile("key-file", file))).trim();
  if (/^inf_[\x21-\x7e]+$/.test(key)) return key;
  const where = file === STDIN ? "standard input" : `--key-file ${file}`;
  throw new UsageError(`${where} holds no key: it must be inf_ and what follows, as one word on one line`);
}
