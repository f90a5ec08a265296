import type { Argument, Option } from "commander";
import { CliCommand, SettingOption } from "../cli/command/cli-command.ts";
import { createProgress } from "../cli/output/progress.ts";
import { createProgram } from "../cli/program.ts";

const HEAD = `<!-- Generated from cli/ by scripts/generate.ts. -->
# Commands

\`keyplane COMMAND --help\` shows the same, with more examples. An option overrides its environment variable; an empty variable is unset.

| exit code | meaning |
|---|---|
| 0 | done, or stopped by a signal |
| 1 | the work failed, or the result of a check is negative |
| 2 | wrong use: the message names the option, file or setting. With \`plan --detailed-exitcode\`: there are changes |`;

const SHARED_HEAD = `## Shared options

Each command names its groups. Where a command describes one of these options itself, that applies.`;

/** Options that several commands take alike: the command to read them from, and their long forms or variables. */
type Group = { readonly title: string; readonly of: string; readonly names: readonly string[] };

const GROUPS: readonly Group[] = [
  { title: "Connection", of: "revoke", names: ["--data", "--server", "--token-file", "KEYPLANE_TOKEN"] },
  { title: "Cluster", of: "get", names: ["--kubeconfig", "--context"] },
  { title: "Key", of: "memory-export", names: ["--key-file", "--server", "--data", "--subject"] },
  { title: "Output", of: "revoke", names: ["--output"] },
  { title: "Reason", of: "revoke", names: ["--reason"] },
  {
    title: "Database",
    of: "migrate",
    names: ["--database-url", "--database-url-file", "--database-password-file", "--database-ca-file"],
  },
  { title: "Encryption keys", of: "server", names: ["--encryption-key-file", "KEYPLANE_ENCRYPTION_KEY"] },
  {
    title: "Server settings",
    of: "up",
    names: [
      ...["--port", "--admin-host", "--admin-port", "--log-level", "--audit-retention", "--usage-retention"],
      ...["--prices", "--otlp-endpoint", "--trace-ratio", "--vendor-header", "--public-url", "--tls-cert", "--tls-key"],
      ...["--allow-private-upstreams", "--trusted-proxies", "--oidc-issuer", "--oidc-audience", "--oidc-admin-groups"],
      ...["--authz-port", "--authz-grpc-port", "--authz-host", "--authz-tls-cert", "--authz-tls-key"],
      ...["--authz-client-ca", "--authz-token-file", "--authz-address-header"],
      ...["--oidc-client-id", "--oidc-client-secret-file", "--leaks-github-keys-url"],
    ],
  },
];

/** Row of a command's table. */
type Row = {
  /** Long form of an option, or name of a variable. */
  readonly name: string;
  readonly written: string;
  readonly variable: string;
  readonly meaning: string;
};

/** Returns the reference page of the command line, in Markdown. */
export async function renderCommands(): Promise<string> {
  const commands = await commandsOf();
  const headings = Map.groupBy(commands, (command) => command.helpGroup().replace(/:$/, ""));
  const shared = GROUPS.map((group) => ({ ...group, rows: rowsOfGroup(group, commands) }));
  return [
    HEAD,
    "",
    ...[...headings].map(([heading, members]) => `- ${heading}: ${members.map(linkTo).join(", ")}`),
    "",
    SHARED_HEAD,
    ...shared.flatMap(({ title, rows }) => ["", `### ${title}`, ...optionTable(rows)]),
    ...commands.flatMap((command) => section(command, shared)),
    "",
  ].join("\n");
}

/** Returns the commands in the order in which they are added; none is run. */
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

function rowsOfGroup({ title, of, names }: Group, commands: readonly CliCommand[]): readonly Row[] {
  const rows = commands.filter((command) => command.name() === of).flatMap(rowsOf);
  return names.map((name) => {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) throw new Error(`keyplane ${of} has no ${name} for the group ${title}`);
    return row;
  });
}

type Shared = Group & { readonly rows: readonly Row[] };

function section(command: CliCommand, shared: readonly Shared[]): string[] {
  const [example] = command.examples;
  const taken = shared.flatMap((group) => {
    const rows = rowsOf(command).filter((row) => group.rows.some((other) => isSame(row, other)));
    return rows.length === 0 ? [] : [{ ...group, taken: rows }];
  });
  const own = rowsOf(command).filter((row) => !taken.some((group) => group.rows.some((other) => isSame(row, other))));
  const links = taken.map(({ title, rows, taken: some }) => {
    const link = `[${title.toLowerCase()}](#${title.toLowerCase().replaceAll(" ", "-")})`;
    return some.length === rows.length ? link : `${link} (${some.map(({ name }) => quoted(name)).join(", ")})`;
  });
  return [
    "",
    `## keyplane ${command.name()}`,
    "",
    sentence(command.description()),
    "",
    `${quoted(usageOf(command))}${links.length === 0 ? "" : `; shared: ${links.join(", ")}`}`,
    ...optionTable([...command.registeredArguments.map(argumentRow), ...own]),
    ...(example === undefined ? [] : ["", "```", `# ${example.does}`, example.line, "```"]),
  ];
}

/** Returns the usage of a command without the placeholder of its options, which the tables have. */
function usageOf(command: CliCommand): string {
  return `keyplane ${command.name()} ${command.usage().replace("[options]", "")}`.replaceAll(/ +/g, " ").trim();
}

function isSame(row: Row, other: Row): boolean {
  return row.written === other.written && row.variable === other.variable && row.meaning === other.meaning;
}

/** Returns the rows of a command's options and variables. */
function rowsOf({ options, variables }: CliCommand): readonly Row[] {
  return [
    ...options.filter(({ hidden }) => !hidden).map(optionRow),
    ...variables.map(({ name, holds }) => ({ name, written: "", variable: quoted(name), meaning: holds })),
  ];
}

function argumentRow(argument: Argument): Row {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  const written = quoted(argument.required ? name : `[${name}]`);
  return { name, written, variable: "", meaning: withChoices(argument.description, argument.argChoices) };
}

function optionRow(option: Option): Row {
  const isSetting = option instanceof SettingOption;
  const otherwise = isSetting ? option.otherwise : option.defaultValue;
  const fallback = typeof otherwise === "string" ? `; default: ${otherwise}` : "";
  return {
    name: option.long ?? option.flags,
    written: quoted(option.flags),
    variable: isSetting ? quoted(option.variable) : "",
    meaning: withChoices(option.description, option.argChoices) + fallback,
  };
}

function withChoices(text: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? text : `${text}: ${choices.map(quoted).join(", ")}`;
}

/** Returns a table behind an empty line, with a column of variables if there are any; nothing for no rows. */
function optionTable(rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const hasVariables = rows.some(({ variable }) => variable !== "");
  const cells = (row: readonly string[]) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const head = hasVariables ? ["option", "variable", "meaning"] : ["option", "meaning"];
  return [
    "",
    cells(head),
    `|${"---|".repeat(head.length)}`,
    ...rows.map(({ written, variable, meaning }) =>
      cells(hasVariables ? [written, variable, meaning] : [written, meaning]),
    ),
  ];
}

const quoted = (word: string) => `\`${word}\``;

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
