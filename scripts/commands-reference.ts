import type { Argument, Option } from "commander";
import { CliCommand, SettingOption } from "../cli/command/cli-command.ts";
import { createProgress } from "../cli/output/progress.ts";
import { createProgram } from "../cli/program.ts";

const HEAD = `<!-- Generated from cli/ by scripts/generate.ts. -->
# Commands

What \`keyplane COMMAND --help\` shows, of all commands. A flag wins over its variable, and an empty variable counts as none. A flag has a variable where it says how \`up\`, \`server\` or \`controller\` runs, or where something is (a folder, a file, a URL, a cluster); what a single call picks, does or prints, no variable says.

| exit code | |
|---|---|
| 0 | done, or stopped by a signal |
| 1 | the work failed, or what was looked at is not as it should be |
| 2 | wrong use: a flag, a file or a setting, which is named. With \`plan --detailed-exitcode\`: something would change |`;

/** The reference page of the command line, in Markdown. */
export async function renderCommands(): Promise<string> {
  const commands = await commandsOf();
  const groups = Map.groupBy(commands, (command) => command.helpGroup().replace(/:$/, ""));
  return [
    HEAD,
    "",
    ...[...groups].map(([group, members]) => `- ${group}: ${members.map(linkTo).join(", ")}`),
    ...commands.flatMap(section),
    "",
  ].join("\n");
}

/** As they are added; none is run. */
async function commandsOf(): Promise<readonly CliCommand[]> {
  const none = () => new AbortController().signal;
  const surroundings = {
    env: {},
    out: () => {},
    exit: () => {},
    terminal: undefined,
    progress: createProgress(undefined),
    stopSignal: none,
    interrupt: none,
  };
  const { commands } = await createProgram(surroundings);
  return commands.filter((command) => command instanceof CliCommand);
}

const linkTo = (command: CliCommand) => `[\`${command.name()}\`](#keyplane-${command.name()})`;

function section(command: CliCommand): string[] {
  const { variables, examples } = command;
  return [
    "",
    `## keyplane ${command.name()}`,
    "",
    sentence(command.description()),
    "",
    quoted(`keyplane ${command.name()} ${command.usage()}`),
    ...table(["argument", "meaning"], command.registeredArguments.map(argumentRow)),
    ...table(["flag", "variable", "default", "meaning"], command.options.filter(({ hidden }) => !hidden).map(flagRow)),
    ...table(
      ["variable", "meaning"],
      variables.map(({ name, holds }) => [quoted(name), holds]),
    ),
    ...(examples.length === 0 ? [] : ["", "```", ...examples.flatMap(({ does, line }) => [`# ${does}`, line]), "```"]),
  ];
}

function argumentRow(argument: Argument): string[] {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return [quoted(argument.required ? name : `[${name}]`), argument.description];
}

function flagRow(option: Option): string[] {
  const isSetting = option instanceof SettingOption;
  const otherwise = isSetting ? option.otherwise : option.defaultValue;
  const choices = option.argChoices === undefined ? "" : `: ${option.argChoices.map(quoted).join(", ")}`;
  return [
    quoted(option.flags),
    isSetting ? quoted(option.variable) : "",
    typeof otherwise === "string" ? otherwise : "",
    option.description + choices,
  ];
}

/** A table with its empty line before it; none of no rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const cells = (row: readonly string[]) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return ["", cells(head), `|${"---|".repeat(head.length)}`, ...rows.map(cells)];
}

const quoted = (word: string) => `\`${word}\``;

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
