import { Command, type ErrorOptions, Option } from "commander";
import { redactKeys } from "../../domain/redact.ts";
import { flagOf, type SettingTable, variableOf } from "../../runtime/settings.ts";
import { ERROR_PREFIX } from "../output/describe-error.ts";
import { plainText } from "../output/plain-text.ts";

/** Flag that can also be given as an environment variable. Its command reads it with `setting` or `required`. */
export class SettingOption extends Option {
  /** Name of the variable. */
  readonly variable: string;
  /** Default if neither is given, in words. */
  readonly otherwise: string | undefined;

  constructor(flags: string, description: string, otherwise?: string) {
    super(flags, description);
    this.otherwise = otherwise;
    this.variable = variableOf(this.name());
  }
}

/** Command line that works as it stands, and what it does. */
export type Example = { readonly line: string; readonly does: string };

/** Environment variable without a flag, and what it holds. */
export type Variable = { readonly name: string; readonly holds: string };

/** Command that is meant by a word that other programs use, or by a kind in the place of a command. */
const COMMAND_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["list", "get"],
  ["ls", "get"],
  ["show", "get"],
  ["status", "get all, or doctor"],
  ["health", "doctor"],
  ["create", "init"],
  ["new", "init"],
  ["check", "validate"],
  ["lint", "validate"],
  ["diff", "plan"],
  ["apply", "plan, or kubectl apply"],
  ["start", "up"],
  ["run", "up"],
  ["serve", "server"],
  ["delete", "revoke"],
  ["remove", "revoke"],
  ["logs", "events"],
  ["login", "console"],
  ...["keys", "teams", "gateways", "libraries"].map((kind): [string, string] => [kind, `get ${kind}`]),
]);

const UNKNOWN = /^error: unknown command '([^']*)'/;

/** Replaces commander's suggestion for a word in `COMMAND_SYNONYMS`: the command that looks most like it may do something else. */
function withOwnSuggestion(message: string): string {
  const [unknown, word = ""] = UNKNOWN.exec(message) ?? [];
  const meant = COMMAND_SYNONYMS.get(word);
  return unknown === undefined || meant === undefined ? message : `${unknown}\n(Did you mean ${meant}?)`;
}

/** Command of commander's that also has examples and variables, for its help and for the reference. */
export class CliCommand extends Command {
  readonly examples: Example[] = [];
  readonly variables: Variable[] = [];
  /** Usual values of its first argument, for shell completion. */
  readonly suggestions: string[] = [];

  constructor(name?: string) {
    super(name);
    this.addHelpText("after", () => afterwords(this));
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds a flag that can also be given as a variable. */
  setting(flags: string, description: string, otherwise?: string): this {
    return this.addOption(new SettingOption(flags, description, otherwise));
  }

  /** Adds the flags of a table of settings. */
  settings(table: SettingTable): this {
    for (const [name, { takes, help, otherwise }] of Object.entries(table)) {
      this.setting(`--${flagOf(name)} ${takes}`, help, otherwise);
    }
    return this;
  }

  /** Adds a variable that has no flag. */
  variable(name: string, holds: string): this {
    this.variables.push({ name, holds });
    return this;
  }

  suggest(...words: readonly string[]): this {
    this.suggestions.push(...words);
    return this;
  }

  example(line: string, does: string): this {
    this.examples.push({ line, does });
    return this;
  }

  /** Returns advice for an unknown option, which may be meant as an argument. */
  #adviceOn(message: string): string {
    const [argument] = this.registeredArguments;
    if (argument === undefined || !/^error: unknown option '-[^-']*'$/.test(message)) return "";
    return `; a <${argument.name()}> that begins with - stands last, behind --`;
  }

  /** Reports a mistake on the command line, in one line as every error. Anything in it that may be a key is hidden. */
  override error(message: string, options?: ErrorOptions): never {
    const what = `${redactKeys(withOwnSuggestion(message))}${this.#adviceOn(message)}`
      .replace(/^error: /, "")
      .replace(/\s*\n\(Did you mean (.*)\?\)/, ": did you mean $1?")
      .replace(/(?<!\.)\.$/, "");
    super.error(`${ERROR_PREFIX}${plainText(what)}: see ${pathOf(this)} --help`, options);
  }
}

/** Returns the command as typed, with its parents. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Describes a flag for help: its description, choices, default and variable. */
export function describeOption(option: Option): string {
  const isSetting = option instanceof SettingOption;
  const otherwise = isSetting ? option.otherwise : option.defaultValue;
  const more = [
    ...(option.argChoices === undefined ? [] : [option.argChoices.join(", ")]),
    ...(typeof otherwise === "string" ? [`default ${otherwise}`] : []),
    ...(isSetting ? [option.variable] : []),
  ];
  return more.length === 0 ? option.description : `${option.description} (${more.join("; ")})`;
}

/** Returns the variables and examples that help shows below the flags. */
function afterwords({ variables, examples }: CliCommand): string {
  const width = Math.max(0, ...variables.map(({ name }) => name.length));
  return [
    ...section(
      "Variables:",
      variables.map(({ name, holds }) => `  ${name.padEnd(width)}  ${holds}`),
    ),
    ...section(
      "Examples:",
      examples.flatMap(({ line, does }) => [`  # ${does}`, `  ${line}`]),
    ),
  ].join("\n");
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines];
}
