import { Argument } from "commander";
import type { AddCommand } from "../command/command.ts";
import { bashCompletion } from "./bash.ts";
import { type CompletedCommand, completedCommands } from "./completed-commands.ts";
import { fishCompletion } from "./fish.ts";
import { powershellCompletion } from "./powershell.ts";
import { zshCompletion } from "./zsh.ts";

/**
 * Functions that make the completion script of each shell. Where a script offers nothing, the shell completes files.
 */
const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
};

/** Adds `keyplane completion`. Its scripts are made from the program itself, so they offer what the program takes. */
export const addCompletion: AddCommand = (program, { out }) => {
  program
    .command("completion")
    .description("print a shell completion script")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)))
    .example("keyplane completion bash > /etc/bash_completion.d/keyplane", "for bash")
    .example("keyplane completion zsh > ~/.zfunc/_keyplane", "for zsh, in a folder of fpath")
    .example("keyplane completion fish > ~/.config/fish/completions/keyplane.fish", "for fish")
    .example("keyplane completion powershell >> $PROFILE", "for PowerShell")
    .action((shell: string) => {
      const script = SHELLS[shell]?.(completedCommands(program));
      if (script !== undefined) out(script);
    });
};
