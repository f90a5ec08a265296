import type { ErrorObject } from "ajv";
import { MANAGED_BY_PATTERN } from "../../domain/key/declaration/managed-by.ts";
import { PATTERNS } from "../../domain/manifest/validation/schema-check.ts";

/** Describes where and why a value breaks its schema, and what to write instead. Never repeats the value itself. */
export function describeSchemaError(fault: ErrorObject | undefined, whole: string): string {
  if (fault === undefined) return `${whole} is not valid.`;
  const where = whereOf(fault, whole);
  const params: Record<string, unknown> = fault.params;
  const describe = MESSAGES[fault.keyword];
  return describe?.(where, params, fault) ?? `${where} ${fault.message ?? "is not valid"}.`;
}

/**
 * Names the field of a fault. Callers name the fields of a map: only a name that cannot be a misplaced secret is
 * repeated.
 */
function whereOf({ instancePath, propertyName }: ErrorObject, whole: string): string {
  const path = instancePath.slice(1).split("/");
  const shown = path.map(shownName).join(".");
  const where = instancePath === "" ? whole : `${whole}'s "${shown}"`;
  return propertyName === undefined ? where : `${where} has a name in it that`;
}

/** Returns a name that a caller chose as a message shows it. */
export function shownName(name: string): string {
  return /^[\w-]{1,40}$/.test(name) ? name : "…";
}

/** Texts for the patterns of the APIs that are not in `crds/`. */
const API_PATTERNS: Readonly<Record<string, string>> = {
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$":
    "is no time: write it as RFC 3339 has it, such as 2027-01-31T00:00:00Z",
  "^[^\\u0000]*$": "must not contain a NUL character",
  "^[^\\u0000\\ud800-\\udfff]*$": "must not contain a NUL character, or half of a surrogate pair",
  "^[ -~]+$": "must be ASCII that can be printed",
  "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+(Z|[+-]\\d\\d:\\d\\d)$":
    "is no time: write it as RFC 3339 has it, such as 2027-01-31T00:00:00Z",
  [MANAGED_BY_PATTERN]: "is no URN of Pulumi, which begins with urn:pulumi: and has no unseen characters",
};

type Message = (where: string, params: Record<string, unknown>, fault: ErrorObject) => string;

const MESSAGES: Readonly<Record<string, Message>> = {
  additionalProperties: (where, { additionalProperty }, fault) => unknownField(where, additionalProperty, fault),
  required: (where, { missingProperty }) => `${where} lacks "${missingProperty}".`,
  type: (where, { type }) =>
    `${where} must be ${[type].flat().join(" or ")}${type === "string" ? ", given once" : ""}.`,
  pattern: (where, { pattern }) => {
    const named = typeof pattern === "string" ? (PATTERNS[pattern] ?? API_PATTERNS[pattern]) : undefined;
    return `${where} ${named ?? "is not valid"}.`;
  },
  enum: (where, { allowedValues }) => `${where} must be one of ${[allowedValues].flat().join(", ")}.`,
  uniqueItems: (where) => `${where} must not name the same thing twice.`,
};

function unknownField(where: string, field: unknown, fault: ErrorObject): string {
  const known = fieldsOf(fault.parentSchema);
  // Repeats only a text that looks like a field's name, not what could be a misplaced secret.
  const named = typeof field === "string" && /^[A-Za-z_-]\w{0,39}$/.test(field) ? field : undefined;
  const near =
    named && named.length > 3 ? known.find((field) => isNear(named.toLowerCase(), field.toLowerCase())) : undefined;
  const hint = near === undefined ? `It takes ${known.join(", ")}.` : `Did you mean "${near}"?`;
  return `${where} has an unknown field${named === undefined ? "" : ` "${named}"`}. ${hint}`;
}

function fieldsOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return [];
  const named = Object.keys(schema.properties ?? {}).filter((field) => field !== "key");
  const prefixes = "patternProperties" in schema ? Object.keys(schema.patternProperties ?? {}) : [];
  return [...named, ...prefixes.map((pattern) => `${pattern.replaceAll(/[^\w.]/g, "")}NAME`)];
}

/** True if two words are at most two edits apart. Both are short. */
function isNear(a: string, b: string): boolean {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return (row.at(-1) ?? 0) <= 2;
}
