import { memberScan } from "../../../server/http/bodies/json-members.ts";
import { RFC3339 } from "../../request/schemas.ts";

type Json = Readonly<Record<string, unknown>>;

/** Other names that models give to an argument, of the tools that have it. */
const ALIASES: Readonly<Record<string, string>> = { q: "query", text: "query" };
/** Arguments that n8n adds to the model's own. */
const ADDED: ReadonlySet<string> = new Set(["toolCallId", "sessionId", "action", "chatInput", "tool"]);
/** Names of the arguments that bound an answer: a higher value is lowered to the maximum. */
const CLIPPED = ["limit", "maxTokens"] as const;
/** Characters of a call's texts that are read as JSON: the bounds of a body are meant for one document. */
const MOST_TEXT = 65_536;

/** Characters that are left of {@link MOST_TEXT}. */
type TextBudget = { left: number };

/** Arguments of a call in the form of the schema. */
export type ReadArguments = {
  readonly args: unknown;
  /** Sentences about arguments that were taken otherwise than they were meant. */
  readonly notes: readonly string[];
};

/**
 * Reads what a model means by what it wrote, if only one thing can be meant: `q` for `query`, a number or a boolean in
 * quotes, a date without a time, one text in place of a list, a list as JSON text; and, for an argument that is left
 * out, empty text, or null if it is no value of the argument. Whatever else breaks the schema stays as it is, to be
 * refused.
 *
 * @param schema of the arguments' object
 * @returns the arguments, or a sentence about two that cannot be meant together
 */
export function readArguments(args: unknown, schema: Json): ReadArguments | string {
  const properties = objectOf(schema.properties);
  if (!isObject(args) || properties === undefined) return { args, notes: [] };
  const names = new Map<string, string>();
  for (const written of Object.keys(args)) {
    const isKnown = Object.hasOwn(properties, written);
    if (!isKnown && ADDED.has(written)) continue;
    const alias = Object.hasOwn(ALIASES, written) && !isKnown ? ALIASES[written] : undefined;
    const name = alias !== undefined && Object.hasOwn(properties, alias) ? alias : written;
    if (isLeftOut(args[written], name, schema) || (name !== written && isEmpty(args[written]))) continue;
    const other = names.get(name);
    if (other !== undefined) return `"${other}" and "${written}" are the same: give ${name} alone.`;
    names.set(name, written);
  }
  const budget: TextBudget = { left: MOST_TEXT };
  const read = Object.fromEntries(
    [...names].map(([name, written]) => [name, meantBy(args[written], objectOf(properties[name]), budget)]),
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

function meantBy(value: unknown, schema: Json | undefined, budget: TextBudget): unknown {
  if (schema === undefined) return value;
  const item = objectOf(schema.items);
  if (Array.isArray(value)) return value.map((each) => meantBy(each, item, budget));
  if (isObject(value)) {
    const meant = Object.entries(value)
      .filter(([name, each]) => !isLeftOut(each, name, schema))
      .map(([name, each]) => [name, meantBy(each, fieldOf(schema, name), budget)]);
    return Object.fromEntries(meant);
  }
  return typeof value === "string" ? meantByText(value, schema, budget) : value;
}

function meantByText(value: string, schema: Json, budget: TextBudget): unknown {
  const { pattern } = schema;
  const types = [schema.type].flat();
  const isList = types.includes("array");
  if (isList || types.includes("object")) {
    const isJson = value.trimStart().startsWith(isList ? "[" : "{");
    const parsed = isJson ? parse(value, budget) : undefined;
    if (parsed !== undefined) return meantBy(parsed, schema, budget);
    // A text that begins as a list and is no JSON is not meant as an item of one.
    return isList && !isJson && objectOf(schema.items)?.type === "string" ? [value] : value;
  }
  if (types.includes("boolean") && (value === "true" || value === "false")) return value === "true";
  const isNumber = types.includes("number") || types.includes("integer");
  if (isNumber && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value);
  return pattern === RFC3339 && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value;
}

/** True if an optional field is as good as left out: empty text, or a null that the field does not take. */
function isLeftOut(value: unknown, name: string, schema: Json): boolean {
  const field = fieldOf(schema, name);
  if (!isEmpty(value) || field === undefined || [schema.required].flat().includes(name)) return false;
  return value === "" || ![field.type].flat().includes("null");
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "";
}

function fieldOf({ properties }: Json, name: string): Json | undefined {
  const fields = objectOf(properties);
  return fields && Object.hasOwn(fields, name) ? objectOf(fields[name]) : undefined;
}

/** Parses a text as JSON, within the bounds of a body; undefined if it is none, or longer than what is left. */
function parse(text: string, budget: TextBudget): unknown {
  budget.left -= text.length;
  if (budget.left < 0) return undefined;
  try {
    memberScan(Buffer.from(text)).run(Number.POSITIVE_INFINITY);
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
