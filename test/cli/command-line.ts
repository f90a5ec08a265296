import type { CliCommand } from "../../cli/cli-command.ts";
import { createProgram } from "../../cli/program.ts";

/** The program, which writes nothing. */
export function makeProgram(): Promise<CliCommand> {
  const none = () => new AbortController().signal;
  return createProgram(
    { env: {}, out: () => {}, exit: () => {}, terminal: undefined, stopSignal: none, interrupt: none },
    { writeErr: () => {} },
  );
}

/** The words that follow `keyplane` in a line for a shell, up to what the shell does with the command. */
export function wordsOf(line: string): string[] {
  const [, own = ""] = /(?:^|\| )keyplane ((?:'[^']*'|[^'|<>;&])*)/.exec(line) ?? [];
  return [...own.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
