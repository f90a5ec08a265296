import type { Environment } from "../../domain/environment.ts";
import { setting, variableOf } from "../../runtime/settings.ts";
import type { Terminal } from "../../runtime/terminal-log.ts";
import type { Progress } from "../output/progress.ts";
import type { CliCommand } from "./cli-command.ts";
import { UsageError } from "./usage-error.ts";

/** What every command is given of the process that it runs in. */
export type Process = {
  readonly env: Environment;
  /** Writes one line to standard output. */
  readonly out: (line: string) => void;
  /** Where standard output is a terminal: what it can show. Undefined elsewhere. */
  readonly terminal: Terminal | undefined;
  /** What takes a while says so on a terminal. */
  readonly progress: Progress;
  /** Sets the exit code (spec §8) of a command that ends without an error: 1 where its work failed all the same. */
  readonly exit: (code: number) => void;
  /** Ends with SIGINT or SIGTERM. A command that throws its reason was stopped before it had begun: exit code 0. */
  readonly stopSignal: () => AbortSignal;
  /** The same without a word on standard output, for a command whose output others read until it is stopped. */
  readonly interrupt: () => AbortSignal;
};

/** Standard input, where a file is named. */
export const STDIN = "-";

/** The flag of `plan` by which 2 says that something would change, so that whatever goes wrong is 1. */
export const DETAILED_EXIT_CODE = "--detailed-exitcode";

/** Adds one command to the program: its name, its flags, and what it does. */
export type AddCommand = (program: CliCommand, process: Process) => void;

/**
 * The value of a flag, or of its variable.
 *
 * @throws UsageError where neither is given
 */
export function required(env: Environment, flag: string, given: string | undefined): string {
  const value = setting(env, flag, given);
  if (value !== undefined) return value;
  throw new UsageError(`--${flag} is needed, or the variable ${variableOf(flag)}`);
}
