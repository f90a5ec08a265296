import type { Command, Option } from "commander";
import { CliCommand } from "../command/cli-command.ts";

/** Completions of one command. */
export type CompletedCommand = {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly CompletedFlag[];
  /** Values of its first argument; `files` for paths, empty for anything else. */
  readonly words: readonly string[] | "files";
  /** True if it takes any argument. */
  readonly takesArguments: boolean;
};

export type CompletedFlag = {
  /** Names as typed, the long form first. */
  readonly names: readonly string[];
  readonly description: string;
  /** Values of the flag; null for a flag without a value. */
  readonly values: readonly string[] | "files" | null;
};

export function completedCommands(program: CliCommand): CompletedCommand[] {
  const names = program.commands.map((command) => command.name());
  const help = { name: "help", description: "show what a command takes, with examples", flags: [], words: names };
  return [...program.commands.map(completedCommand), { ...help, takesArguments: true }];
}

function completedCommand(command: Command): CompletedCommand {
  const [argument] = command.registeredArguments;
  const suggested = command instanceof CliCommand ? command.suggestions : [];
  return {
    name: command.name(),
    description: command.description(),
    flags: command.options.map(completedFlag),
    words: isPath(argument?.name() ?? "") ? "files" : (argument?.argChoices ?? suggested),
    takesArguments: argument !== undefined,
  };
}

function completedFlag({ long, short, flags, description, argChoices, required, optional }: Option): CompletedFlag {
  const takesValue = required || optional;
  return {
    names: [long, short].filter((name) => name !== undefined),
    description,
    values: takesValue ? (argChoices ?? (isPath(flags) ? "files" : [])) : null,
  };
}

/** True if the placeholder of the value, as in help, stands for a path. */
function isPath(text: string): boolean {
  return /\b(path|file|dir|folder)s?\b/.test(text.replace(/--[\w-]+/, ""));
}
