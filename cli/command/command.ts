import type { Environment } from "../../domain/environment.ts";
import { setting, variableOf } from "../../runtime/settings.ts";
import type { Terminal } from "../../runtime/terminal-log.ts";
import type { Progress } from "../output/progress.ts";
import type { CliCommand } from "./cli-command.ts";
import { UsageError } from "./usage-error.ts";

/** Access of a command to its process. */
export type Process = {
  readonly env: Environment;
  /** Writes one line to standard output. */
  readonly out: (line: string) => void;
  /** Properties of the terminal; undefined if standard output is not a terminal. */
  readonly terminal: Terminal | undefined;
  /** Shows on a terminal that something takes a while. */
  readonly progress: Progress;
  /**
   * Sets the exit code (spec §8) of a command that ends without an error, such as 1 if its work failed nevertheless.
   */
  readonly exit: (code: number) => void;
  /**
   * Returns a signal that aborts on SIGINT or SIGTERM. A command that throws its reason was stopped before it had
   * begun: exit code 0.
   */
  readonly stopSignal: () => AbortSignal;
  /**
   * Returns such a signal without a message on standard output, for a command whose output others read until it is
   * stopped.
   */
  readonly interrupt: () => AbortSignal;
};

/** File name that stands for standard input. */
export const STDIN = "-";

/** Flag of `plan` with which exit code 2 means that something would change; every failure is then 1. */
export const DETAILED_EXIT_CODE = "--detailed-exitcode";

/** Adds a command to the program: its name, flags and action. */
export type AddCommand = (program: CliCommand, process: Process) => void;

/**
 * Returns the value of a flag, or of its variable.
 *
 * @throws UsageError if neither is given
 */
export function required(env: Environment, flag: string, given: string | undefined): string {
  const value = setting(env, flag, given);
  if (value !== undefined) return value;
  throw new UsageError(`--${flag} is needed, or the variable ${variableOf(flag)}`);
}
