import type { Environment } from "../domain/environment.ts";

/** Setting of a process: a flag of its command, and the environment variable of the same name. */
export type Setting<T> = {
  /** Placeholder for the flag's value in the help: `<port>`. */
  readonly takes: string;
  readonly help: string;
  /** Default text; undefined if there is no default. */
  readonly otherwise: string | undefined;
  /**
   * Parses the text that is given, or undefined if none is given.
   *
   * @param fault called with what the text must be, once for each fault
   * @returns the value; for a text with a fault, the default value
   */
  readonly parse: (text: string | undefined, fault: (wanted: string) => void) => T;
};

/** Settings of a command. The flag is the name in kebab case: `publicUrl` is `--public-url`. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

/** Values of a table's settings. */
export type Settings<Table extends SettingTable> = {
  readonly [name in keyof Table]: Table[name] extends Setting<infer T> ? T : never;
};

/** Flags in the form of the command line: unparsed texts. */
export type Flags<Table extends SettingTable> = { readonly [name in keyof Table]?: string | undefined };

/** Rule over several settings of a table. */
export type SettingsRule<Table extends SettingTable> = {
  /** Setting that its fault names. */
  readonly name: keyof Table & string;
  /** Text that completes "must be". */
  readonly wanted: string;
  readonly holds: (settings: Settings<Table>) => boolean;
};

/** Error with all faults of a configuration. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? "a fault" : `${faults.length} faults`}:\n  ${faults.join("\n  ")}`,
    );
    this.name = "ConfigError";
    this.faults = faults;
  }
}

type Described = { readonly takes: string; readonly help: string };

type Single<T> = Described & {
  /** Parses a text; undefined if the text is not a value. */
  readonly parse: (text: string) => T | undefined;
  /** Text that completes "must be", for the value. */
  readonly wanted: string;
};

/** Defines a setting with one value, which has a default. */
export function withDefault<T>(otherwise: string, { takes, help, parse, wanted }: Single<T>): Setting<T> {
  const fallback = parse(otherwise);
  if (fallback === undefined) throw new TypeError(`the default ${otherwise} is not ${wanted}`);
  return { takes, help, otherwise, parse: (text, fault) => parsed(text, fallback, parse, () => fault(wanted)) };
}

/** Defines a setting with one value; null if none is given. */
export function optional<T>({ takes, help, parse, wanted }: Single<T>): Setting<T | null> {
  return {
    ...{ takes, help, otherwise: undefined },
    parse: (text, fault) => parsed<T | null>(text, null, parse, () => fault(wanted)),
  };
}

/** Defines a setting that takes any text, such as the path of a file; null if none is given. */
export function anyText(described: Described): Setting<string | null> {
  return optional({ ...described, parse: (text) => text, wanted: "a text" });
}

/** Defines a setting of several values, separated by commas; empty if none is given. */
export function several({
  takes,
  help,
  faultOf = () => undefined,
  wanted = "",
}: Described & {
  /** Returns the fault of an item, such as "is none"; undefined for a value. */
  readonly faultOf?: (item: string) => string | undefined;
  /** Text that completes "must be", for the items. */
  readonly wanted?: string;
}): Setting<readonly string[]> {
  return {
    ...{ takes, help, otherwise: undefined },
    parse(text = "", fault) {
      const items = text
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
      for (const item of items) {
        const what = faultOf(item);
        if (what !== undefined) fault(`${wanted}; "${withoutCredentials(item)}" ${what}`);
      }
      return items;
    },
  };
}

/**
 * Reads a table's settings from a process's environment and its command's flags. A flag wins over its variable, and an
 * empty variable counts as none.
 *
 * @returns the values, and every fault of a setting or against a rule: each names the flag, or the variable that is
 *   given, and what to give instead
 */
export function readSettings<Table extends SettingTable>(
  table: Table,
  rules: readonly SettingsRule<Table>[],
  env: Environment,
  flags: Flags<Table>,
): { readonly settings: Settings<Table>; readonly faults: readonly string[] } {
  const faults: string[] = [];
  const given = (name: string) => setting(env, flagOf(name), flags[name]);
  const fault = (name: string, wanted: string) => {
    const flag = flagOf(name);
    const isVariable = flags[name] === undefined && given(name) !== undefined;
    faults.push(`${isVariable ? variableOf(flag) : `--${flag}`}: must be ${wanted}`);
  };
  const values = Object.entries(table).map(([name, { parse }]) => [
    name,
    parse(given(name), (wanted) => fault(name, wanted)),
  ]);
  const settings = Object.fromEntries(values) as Settings<Table>;
  for (const { name, wanted, holds } of rules) {
    if (!holds(settings)) fault(name, wanted);
  }
  return { settings, faults };
}

/** Returns the flag of a setting, without its dashes: `publicUrl` has `public-url`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns the text of a flag, named without its dashes, or else of its variable; an empty variable counts as none. */
export function setting(env: Environment, flag: string, given: string | undefined): string | undefined {
  return given ?? (env[variableOf(flag)] || undefined);
}

/** Returns the environment variable of a flag, named without its dashes: `public-url` has `KEYPLANE_PUBLIC_URL`. */
export function variableOf(flag: string): string {
  return `KEYPLANE_${flag.replaceAll("-", "_").toUpperCase()}`;
}

function parsed<T>(
  text: string | undefined,
  otherwise: T,
  parse: (text: string) => T | undefined,
  fault: () => void,
): T {
  if (text === undefined) return otherwise;
  const value = parse(text);
  if (value === undefined) fault();
  return value === undefined ? otherwise : value;
}

const withoutCredentials = (text: string): string => text.replace(/\/\/[^/]*@/, "//...@");
