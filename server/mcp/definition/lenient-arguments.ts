import { RFC3339 } from "../../memory/request/schemas.ts";

type Json = Readonly<Record<string, unknown>>;

/** Other names that models give to an argument, of the tools that have it. */
const ALIASES: Readonly<Record<string, string>> = { q: "query", text: "query" };
/** A bound of an answer is kept to where more is asked for. */
const CLIPPED = ["limit", "maxTokens"] as const;

/** A call's arguments as the schema has them. */
export type ReadArguments = {
  readonly args: unknown;
  /** What was taken otherwise than it was meant. */
  readonly notes: readonly string[];
};

/**
 * What a model means by what it wrote, where only one thing can be meant: `q` for `query`, a number in quotes, a date
 * without a time, one text in place of a list. Whatever else breaks the schema stays as it is, to be refused.
 *
 * @param schema of the arguments' object
 * @returns a sentence about what cannot be meant together
 */
export function readArguments(args: unknown, schema: Json): ReadArguments | string {
  const properties = objectOf(schema.properties);
  if (!isObject(args) || properties === undefined) return { args, notes: [] };
  const names = new Map<string, string>();
  for (const written of Object.keys(args)) {
    const alias = Object.hasOwn(ALIASES, written) && !Object.hasOwn(properties, written) ? ALIASES[written] : undefined;
    const name = alias !== undefined && Object.hasOwn(properties, alias) ? alias : written;
    const other = names.get(name);
    if (other !== undefined) return `"${other}" and "${written}" are the same: give ${name} alone.`;
    names.set(name, written);
  }
  const read = Object.fromEntries(
    [...names].map(([name, written]) => [name, meantBy(args[written], objectOf(properties[name]))]),
  );
  const notes: string[] = [];
  for (const name of CLIPPED) {
    const most = objectOf(properties[name])?.maximum;
    const asked = read[name];
    if (typeof most !== "number" || typeof asked !== "number" || asked <= most) continue;
    read[name] = most;
    notes.push(`${name} is at most ${most}, which was taken.`);
  }
  return { args: read, notes };
}

function meantBy(value: unknown, schema: Json | undefined): unknown {
  if (schema === undefined) return value;
  const { pattern, items, properties } = schema;
  const types = [schema.type].flat();
  const item = objectOf(items);
  if (types.includes("array") && typeof value === "string") return item?.type === "string" ? [value] : value;
  if (Array.isArray(value)) return value.map((each) => meantBy(each, item));
  if (isObject(value)) {
    const fields = objectOf(properties);
    const meant = (name: string) => (fields && Object.hasOwn(fields, name) ? objectOf(fields[name]) : undefined);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, meantBy(each, meant(name))]));
  }
  if (typeof value !== "string") return value;
  const isNumber = types.includes("number") || types.includes("integer");
  if (isNumber && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value);
  return pattern === RFC3339 && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value;
}

function objectOf(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
