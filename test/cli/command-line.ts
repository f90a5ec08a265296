import type { CliCommand } from "../../cli/command/cli-command.ts";
import { createProgress } from "../../cli/output/progress.ts";
import { createProgram } from "../../cli/program.ts";

/** The program, which writes nothing. */
export function makeProgram(): Promise<CliCommand> {
  const none = () => new AbortController().signal;
  return createProgram(
    {
      ...{ env: {}, out: () => {}, exit: () => {}, terminal: undefined, progress: createProgress(undefined) },
      ...{ stopSignal: none, interrupt: none },
    },
    { writeErr: () => {} },
  );
}

/** Where `keyplane` is called in a line for a shell: at its beginning, behind a pipe, or in place of a word. */
export const CALL = /(?:^|\| |\$\()keyplane (?=\S)/;

/** The words that follow `keyplane` in a line for a shell, up to what the shell does with the command. */
export function wordsOf(line: string): string[] {
  const [call = ""] = CALL.exec(line) ?? [];
  const rest = call === "" ? "" : line.slice(line.indexOf(call) + call.length);
  const [own = ""] = /^(?:'[^']*'|[^'|<>;&)])*/.exec(rest) ?? [];
  return [...own.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
