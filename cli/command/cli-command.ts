import { Command, type ErrorOptions, Option } from "commander";
import { redactKeys } from "../../domain/redact.ts";
import { flagOf, type SettingTable, variableOf } from "../../runtime/settings.ts";
import { ERROR_PREFIX } from "../output/describe-error.ts";
import { plainText } from "../output/plain-text.ts";

/** A flag that is a variable too: its command reads it with `setting` or `required`. */
export class SettingOption extends Option {
  /** The name of its variable. */
  readonly variable: string;
  /** What holds where neither is given, in words. */
  readonly otherwise: string | undefined;

  constructor(flags: string, description: string, otherwise?: string) {
    super(flags, description);
    this.otherwise = otherwise;
    this.variable = variableOf(this.name());
  }
}

/** A command line that works as it stands, and what it does. */
export type Example = { readonly line: string; readonly does: string };

/** A variable that no flag stands for, and what it holds. */
export type Variable = { readonly name: string; readonly holds: string };

/** What is meant by a word that other programs have for a command, or by a kind in a command's place. */
const MEANT: ReadonlyMap<string, string> = new Map([
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

/** A word that is known to be meant otherwise is: the one that looks most like it may do something else. */
function inOurWords(message: string): string {
  const [unknown, word = ""] = UNKNOWN.exec(message) ?? [];
  const meant = MEANT.get(word);
  return unknown === undefined || meant === undefined ? message : `${unknown}\n(Did you mean ${meant}?)`;
}

/** A command of commander's that has, for its help and for the reference, examples and variables besides. */
export class CliCommand extends Command {
  readonly examples: Example[] = [];
  readonly variables: Variable[] = [];
  /** What its first argument is most often, for shells to complete. */
  readonly suggestions: string[] = [];

  constructor(name?: string) {
    super(name);
    this.addHelpText("after", () => afterwords(this));
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds a flag that is a variable too. */
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

  /** Adds a variable that no flag stands for. */
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

  /** What reads as a flag may be meant as an argument. */
  #adviceOn(message: string): string {
    const [argument] = this.registeredArguments;
    if (argument === undefined || !/^error: unknown option '[^']*'$/.test(message)) return "";
    return `; a <${argument.name()}> that begins with - stands last, behind --`;
  }

  /** Refuses what was typed, in one line as every error is. What was typed may be a key. */
  override error(message: string, options?: ErrorOptions): never {
    const what = `${redactKeys(inOurWords(message))}${this.#adviceOn(message)}`
      .replace(/^error: /, "")
      .replace(/\s*\n\(Did you mean (.*)\?\)/, ": did you mean $1?")
      .replace(/(?<!\.)\.$/, "");
    super.error(`${ERROR_PREFIX}${plainText(what)}: see ${pathOf(this)} --help`, options);
  }
}

/** As one types it. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** A flag in its help: what it is, its choices, what holds without it, and its variable. */
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

/** What help says below the flags. */
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
