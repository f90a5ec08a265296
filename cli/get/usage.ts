import { Option } from "commander";
import { UNITS } from "../../domain/access/gateway-operations.ts";
import { csvLine } from "../../domain/csv.ts";
import type { UsageJson } from "../../server/management/usage/usage-json.ts";
import type { CliCommand } from "../command/cli-command.ts";
import type { Process } from "../command/command.ts";
import { parseMoment } from "../command/since.ts";
import { UsageError } from "../command/usage-error.ts";
import { openManagement } from "../management/management-client.ts";
import { outputText } from "../output/output.ts";
import { formatTable } from "../output/table.ts";
import type { SourceFlags } from "../source/open-source.ts";

/** Word for usage in place of a kind. */
export const USAGE = "usage";

const DEFAULT_SINCE = "30d";
const GROUPS = ["key", "team", "gateway", "route", "model", "label"] as const;

/** Flags of `get` for usage only. */
export type UsageFlags = {
  readonly by?: (typeof GROUPS)[number];
  readonly label?: string;
  readonly step?: string;
  readonly since?: string;
  readonly until?: string;
  readonly team?: string;
  readonly gateway?: string;
  readonly model?: string;
};

export function usageOptions(command: CliCommand): CliCommand {
  return command
    .addOption(new Option("--by <what>", "usage: what to group by; default key").choices(GROUPS))
    .option("--label <name>", "usage: group by this label of the key, or else of its team")
    .addOption(
      new Option("--step <length>", "usage: a row per hour or day, instead of a total").choices([
        ...["total", "hour", "day"],
      ]),
    )
    .option("--since <when>", "usage: the start, a duration such as 30d (default) or a time")
    .option("--until <when>", "usage: the end")
    .option("--team <team>", "usage: this team, by name or id")
    .option("--gateway <gateway>", "usage: this gateway, by name, id or public id")
    .option("--model <model>", "usage: this model, as answers name it");
}

/**
 * Refuses flags that go with usage only.
 *
 * @throws UsageError
 */
export function refuseUsageFlags(flags: UsageFlags): void {
  const { by, label, step, since, until, team, gateway, model } = flags;
  const given = Object.entries({ by, label, step, since, until, team, gateway, model }).find(
    ([, value]) => value !== undefined,
  );
  if (given !== undefined) throw new UsageError(`--${given[0]} goes with get ${USAGE} alone`);
}

type Task = {
  readonly names: readonly string[];
  readonly flags: UsageFlags & SourceFlags;
  readonly format: string;
  readonly hasHeadings: boolean;
};

/**
 * Reads usage and prints it.
 *
 * @throws UsageError for several names, and for a cluster, since servers count usage
 */
export async function getUsage({ names, flags, format, hasHeadings }: Task, { env, out, progress }: Process) {
  const [about, another] = names;
  if (another !== undefined) throw new UsageError(`get ${USAGE} takes one key, or --team for all of a team`);
  if (flags.kubeconfig !== undefined || flags.context !== undefined) {
    throw new UsageError("usage is counted by servers: give --server URL, or --data DIR of keyplane up");
  }
  if (format === "name") throw new UsageError(`-o name: ${USAGE} has rows, which have no names`);
  const now = Date.now();
  const { label, step, team, gateway, model } = flags;
  const by = flags.by ?? (label === undefined ? "key" : "label");
  if ((by === "label") !== (label !== undefined)) {
    throw new UsageError("--by label goes with --label NAME, and --label with no other --by");
  }
  // Both are said with every page, so that all pages are of the same time.
  const until = parseMoment("--until", flags.until, now) ?? now;
  const since = parseMoment("--since", flags.since ?? DEFAULT_SINCE, flags.since === undefined ? until : now);
  const client = await openManagement(env, flags);
  const rows = inOrder(
    await progress.during("reading usage", () =>
      Array.fromAsync(client.readUsage({ by, label, step, team, about, gateway, model, since, until })),
    ),
  );
  if (format === "json" || format === "yaml") return out(outputText({ items: rows }, format));
  if (format === "csv") {
    if (hasHeadings) out(csvLine(CSV_COLUMNS.map(([heading]) => heading)));
    for (const row of rows) out(csvLine(CSV_COLUMNS.map(([, cell]) => cell(row) ?? "")));
    return;
  }
  if (rows.length === 0) return hasHeadings ? out("nothing was counted") : undefined;
  const columns = [
    ...columnsOf(by, step !== undefined && step !== "total"),
    // Which few calls have.
    ...UNITS.filter((unit) => rows.some((row) => row[unit] > 0)).map(
      (unit): Column => [unit.toUpperCase(), (row) => row[unit]],
    ),
    ...costColumns(rows),
    ...(format === "wide" ? [ID] : []),
  ];
  const table = formatTable(
    columns.map(([heading]) => heading),
    rows.map((row) => columns.map(([, cell]) => String(cell(row) ?? "-"))),
  );
  out(hasHeadings ? table : table.split("\n").slice(1).join("\n"));
}

/** Sorts rows by time, then by name. */
function inOrder(rows: readonly UsageJson[]): UsageJson[] {
  const order = ({ from, team, namespace, name, route, model, label, id }: UsageJson) =>
    [from, team, namespace, name, route, model, label, id].map((part) => part ?? "").join(" ");
  return rows.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
}

type Column = readonly [heading: string, cell: (row: UsageJson) => string | number | null];

const TEAM: Column = ["TEAM", ({ team }) => team];
const ID: Column = ["ID", ({ id }) => id];
const NAMED: Column["1"] = ({ namespace, name, id }) => [namespace, name ?? id].filter(Boolean).join("/") || null;
const ROUTE: Column = ["ROUTE", ({ route }) => route];

const GROUP_COLUMNS: Readonly<Record<(typeof GROUPS)[number], readonly Column[]>> = {
  key: [["KEY", NAMED], TEAM],
  team: [["TEAM", ({ team, id }) => team ?? id]],
  gateway: [["GATEWAY", NAMED], TEAM],
  route: [["GATEWAY", NAMED], ROUTE, TEAM],
  model: [["MODEL", ({ model }) => model]],
  label: [["LABEL", ({ label }) => label]],
};

/** Figures of a row in the order of their columns in CSV, each with its field name and its heading in tables. */
const FIGURES = [
  ["requests", "REQUESTS"],
  ["answers", "ANSWERS"],
  ["input", "INPUT"],
  ["cached", "CACHED"],
  ["cacheWrites5m", "CACHE WRITES"],
  ["cacheWrites1h", "CACHE WRITES"],
  ["output", "OUTPUT"],
  ["reasoning", "REASONING"],
  ["toolCalls", "TOOL CALLS"],
  ["cut", "CUT"],
  ["unreported", "UNREPORTED"],
  ["unread", "UNREPORTED"],
  ["doubtful", "DOUBTFUL"],
] as const satisfies (readonly [keyof UsageJson, string])[];

/** Columns of a table for people. Figures of one heading are summed. */
const FIGURE_COLUMNS: readonly Column[] = Map.groupBy(FIGURES, ([, heading]) => heading)
  .entries()
  .map(([heading, figures]): Column => [heading, (row) => sumOf(figures.map(([name]) => row[name]))])
  .toArray();

/** Returns the sum; null if any of the counts is unknown. */
function sumOf(counts: readonly (number | null)[]): number | null {
  return counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0);
}

/** Returns the exact cost, or a lower bound as `>=`; null if nothing is known, shown as a dash. */
const COST: Column["1"] = ({ cost, knownCost }) => {
  if (cost !== null || knownCost === null) return cost;
  return /[1-9]/.test(knownCost) ? `>=${knownCost}` : null;
};

/** Returns the columns of cost; empty if the server has no prices. */
function costColumns(rows: readonly UsageJson[]): readonly Column[] {
  const currency = rows[0]?.currency ?? null;
  if (currency === null) return [];
  return [
    [`COST (${currency})`, COST],
    ["UNPRICED", (row) => (row.unpricedTokens ?? 0) + (row.unpricedToolCalls ?? 0) + (row.unpricedUnits ?? 0)],
  ];
}

function columnsOf(by: (typeof GROUPS)[number], hasSteps: boolean): readonly Column[] {
  return [
    ...(hasSteps ? [["FROM", ({ from }: UsageJson) => from.replace(":00.000Z", "Z")] as const] : []),
    ...GROUP_COLUMNS[by],
    ...FIGURE_COLUMNS,
  ];
}

const CSV_COLUMNS: readonly Column[] = [
  ...(["from", "to", "team", "namespace", "name", "id", "route", "model"] as const).map(
    (name): Column => [name, (row) => row[name]],
  ),
  ...FIGURES.map(([name]): Column => [snakeCase(name), (row) => row[name]]),
  ...(["currency", "cost", "knownCost", "unpricedTokens", "unpricedToolCalls", "priceList"] as const).map(
    (name): Column => [snakeCase(name), (row) => row[name]],
  ),
  ["label", ({ label }) => label],
  // They came later than those before.
  ...([...UNITS, "unpricedUnits"] as const).map((name): Column => [snakeCase(name), (row) => row[name]]),
];

/** Returns a name in snake case: `cacheWrites5m` as `cache_writes_5m`. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);
}
