import { Ajv, type DefinedError, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { networkFault } from "../../access/source-addresses.ts";
import { SCHEMAS } from "../../kinds/generated/schemas.ts";
import { isClusterScoped, type Kind } from "../../kinds/kinds.ts";
import type { Schema } from "../../kinds/schema.ts";
import { containsKey } from "../../redact.ts";
import { type Complaint, formatPath, type Path, quote } from "../document/diagnostic.ts";
import { isRecord, WRITABLE } from "../document/identity.ts";
import { suggest, suggestion } from "../document/suggestion.ts";
import { jsonSchema, specSchema } from "./json-schema.ts";

const TIME =
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";

/** Messages by the patterns in `crds/`. A test ensures that none is missing. */
export const PATTERNS: Readonly<Record<string, string>> = {
  "^[A-Za-z0-9._@:+=/|-]+$": "may hold letters, digits and . _ @ : + = / | - alone: write an id such as user-4711",
  "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$":
    "is no name: use lower-case letters, digits, - and ., and begin and end with a letter or digit",
  "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$":
    "is no name: use lower-case letters, digits and -, and begin and end with a letter or digit",
  "^([-_a-zA-Z0-9]|\\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$": "is no data key of a Secret: use letters, digits, -, _ and .",
  "^([0-9]{1,6}(\\.[0-9]{1,3})?(h|m|s|ms))+$":
    "is no duration: write hours, minutes and seconds, such as 720h or 1h30m (a day is 24h)",
  [TIME]: "is no time: write it as RFC 3339 has it, such as 2027-01-31T00:00:00Z",
  "^[0-9]{1,7}(\\.[0-9]{1,6})?$":
    'is no amount: write it as a text with up to seven digits and six decimals, such as "250.00"',
  "^[A-Z]{3}$": "is no currency: write its code by ISO 4217, such as USD or EUR",
  "^[A-Za-z][A-Za-z0-9_+/-]*$": "is no name of a time zone: write an IANA name, such as Europe/Berlin",
  "^[!-~]+$": "must be visible ASCII without spaces",
  "^[0-9a-f]{64}$": "is no SHA-256: write 64 lower-case hex digits",
  "^inf_[!#-+\\--~]{8}$": "is no prefix of a key: write the key's first 12 characters, which begin with inf_",
  "^[^\\x00]*$": "has a NUL character, which cannot be stored: write the text without it",
  "^https?://([^\\s\\x00/?#@:<>\\[\\]\\\\^|%]+|\\[[0-9A-Fa-f:.]+\\])(:([0-5]?[0-9]{0,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?(/[^\\s\\x00?#]*)?$":
    "is no base URL: write http:// or https://, a host, perhaps a port up to 65535, and perhaps a path, without credentials, query, fragment or a placeholder for the host",
  "^[A-Za-z0-9][-._A-Za-z0-9]*$": "is no route id: use letters, digits, -, _ and ., beginning with a letter or digit",
  "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$":
    "is no name of a label: write one such as environment or example.com/tier",
  "^[A-Za-z]([A-Za-z0-9]*[A-Za-z0-9])?$": "is no reason: use letters and digits",
};

/** Message for an unknown field that seems to hold a key. */
const PASTED_KEY =
  "is no field and seems to hold a key: remove it, and revoke that key, since a file has it now. Keyplane mints a key into its Secret; spec.source imports one from a Secret";

/** Message for an object that names its team: the team follows from the namespace. */
const OF_THE_NAMESPACE = "the team is the one that has this namespace in its spec.namespaces, so leave this out";

/** Maximum number of complaints: a hostile manifest may have as many errors as bytes. */
const MAX_COMPLAINTS = 100;

const validators = new Map<Kind, ValidateFunction>();

/**
 * Checks an object against its kind's schema as the API server does, and refuses unknown fields besides. Fills in the
 * schema's defaults: `manifest` is changed.
 */
export function checkSchema(kind: Kind, manifest: Record<string, unknown>): Complaint[] {
  dropNullsWithDefault(SCHEMAS[kind], manifest);
  const validate = validatorOf(kind);
  if (validate(manifest)) return [];
  const errors = (validate.errors ?? []) as DefinedError[];
  // One complaint about a value is enough. A wrong type comes first: such a value is in no list of values either.
  const complaints = new Map<string, Complaint>();
  for (const error of errors.slice(0, MAX_COMPLAINTS)) {
    const complaint = misplacedField(kind, error) ?? complaintOf(kind, error, pathOf(error.instancePath));
    const path = formatPath(complaint.path);
    if (error.keyword === "type" || !complaints.has(path)) complaints.set(path, complaint);
  }
  return withoutEmptySpec([...complaints.values()]);
}

/** Returns the complaint about a field that stands beside its parent, the commonest mistake of indentation. */
function misplacedField(kind: Kind, error: DefinedError): Complaint | undefined {
  if (error.keyword !== "additionalProperties" || error.instancePath !== "") return undefined;
  const field = error.params.additionalProperty;
  const under = Object.hasOwn(specSchema(kind).properties ?? {}, field)
    ? "spec"
    : WRITABLE.includes(field)
      ? "metadata"
      : undefined;
  return under && { path: [field], of: "key", message: `is a field of ${under}: indent it under ${under}` };
}

/** Drops the complaint that a spec is empty if its fields stand beside it: that is the same fault. */
function withoutEmptySpec(complaints: readonly Complaint[]): Complaint[] {
  const isBeside = complaints.some(({ message }) => message.startsWith("is a field of spec:"));
  return complaints.filter(({ path }) => !isBeside || formatPath(path) !== "spec");
}

/** Removes empty fields that have a default, which is then filled in as on the API server; others are faults. */
function dropNullsWithDefault(schema: Schema, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) if (schema.items) dropNullsWithDefault(schema.items, item);
  } else if (typeof value === "object" && value !== null) {
    const fields = value as Record<string, unknown>;
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (fields[name] === null && field.default !== undefined) delete fields[name];
      else if (Object.hasOwn(fields, name)) dropNullsWithDefault(field, fields[name]);
    }
  }
}

/** Returns the validator of a kind. It is compiled on first use, which takes about 10 ms for each kind. */
function validatorOf(kind: Kind): ValidateFunction {
  const known = validators.get(kind);
  if (known) return known;
  // Tests check the schemas themselves: to compile the schema of schemas takes as long as a kind's. To shorten the
  // validator's text takes as long as all else of it, and V8 runs the longer text as quickly.
  const ajv = new Ajv({
    ...{ allErrors: true, verbose: true, useDefaults: true, validateSchema: false },
    code: { optimize: false },
  });
  formats.default(ajv, ["date-time", "int32", "int64"]);
  // Stricter than the API server's check of this format, which accepts bits behind the length.
  ajv.addFormat("cidr", (text: string) => networkFault(text) === undefined);
  const validate = ajv.compile({
    type: "object",
    required: ["spec"],
    properties: { apiVersion: {}, kind: {}, metadata: {}, status: {}, spec: jsonSchema(specSchema(kind)) },
    additionalProperties: false,
  });
  validators.set(kind, validate);
  return validate;
}

/** Converts an error of the validator to a complaint that says what to write instead. */
function complaintOf(kind: Kind, error: DefinedError, path: Path): Complaint {
  switch (error.keyword) {
    case "additionalProperties": {
      const field = error.params.additionalProperty;
      const value: unknown = isRecord(error.data) ? error.data[field] : undefined;
      const isKey = typeof value === "string" && containsKey(value);
      const isTeam = /^team(?:Name|Ref)?$/.test(field) && formatPath(path) === "spec" && !isClusterScoped(kind);
      const step = isTeam ? OF_THE_NAMESPACE : unknownFieldStep(field, value, error.parentSchema as Schema);
      const message = isKey ? PASTED_KEY : `unknown field: ${step}`;
      return { path: [...path, field], of: "key", message };
    }
    case "required":
      return { path: [...path, error.params.missingProperty], message: "is missing: write it" };
    case "type":
      return { path, message: explainType(String(error.params.type), error.data, error.parentSchema as Schema) };
    case "enum": {
      const near = suggestion(typeof error.data === "string" ? error.data : "", error.params.allowedValues);
      return { path, message: `unknown value ${quote(error.data)}: ${near}` };
    }
    case "pattern":
      return { path, message: `${quote(error.data)} ${patternFault(error.params.pattern, String(error.data))}` };
    case "format":
      return { path, message: `${quote(error.data)} ${formatFault(error.params.format, String(error.data))}` };
    case "minLength":
      return { path, message: "is empty: write something, or leave the field out" };
    case "maxLength":
      return { path, message: `is longer than ${error.params.limit} characters: shorten it` };
    case "minItems":
      return { path, message: "is empty: write at least one entry, or leave the field out" };
    case "maxItems":
      return { path, message: `has more than ${error.params.limit} entries: remove some` };
    case "minimum":
      return { path, message: `must be at least ${error.params.limit}` };
    case "maximum":
      return { path, message: `must be at most ${error.params.limit}` };
    default:
      return { path, message: error.message ?? error.keyword };
  }
}

/** Returns what to do: write a field of a mapping beside it, as of `secretName`, or a field that takes the value. */
function unknownFieldStep(field: string, value: unknown, { properties = {} }: Schema): string {
  for (const [outer, { properties: inner = {} }] of Object.entries(properties)) {
    const rest = field.startsWith(outer) ? field.slice(outer.length) : "";
    const name = rest.slice(0, 1).toLowerCase() + rest.slice(1);
    if (Object.hasOwn(inner, name)) return `did you mean ${name} of ${outer}?`;
  }
  const known = Object.keys(properties);
  const taking = known.filter((name) => takesText(properties[name], value));
  return suggestion(field, suggest(field, taking) === undefined ? known : taking);
}

/** True if a schema has a pattern, and a text of an ordinary length matches it. */
function takesText(schema: Schema | undefined, value: unknown): boolean {
  return typeof value === "string" && value.length <= 64 && new RegExp(schema?.pattern ?? "(?!)").test(value);
}

function patternFault(pattern: string, text: string): string {
  if (pattern === TIME && new RegExp(TIME).test(`${text}Z`)) return `has no zone: write ${text}Z for UTC`;
  return PATTERNS[pattern] ?? `does not match ${pattern}`;
}

function formatFault(format: string, text: string): string {
  return (
    (format === "cidr" ? networkFault(text) : undefined) ?? `is no ${format}: write one such as 2027-01-31T00:00:00Z`
  );
}

const NOUNS: Readonly<Record<string, string>> = {
  object: "a mapping of fields",
  array: "a list",
  string: "text",
  integer: "a whole number",
  boolean: "true or false",
};

function explainType(wanted: string, data: unknown, schema: Schema): string {
  if (data === null) return `is empty: write ${NOUNS[wanted]}, or leave the field out`;
  if (wanted === "string" && typeof data !== "object") {
    return schema.enum === undefined
      ? `must be text: write it in quotes, "${String(data)}"`
      : `unknown value ${String(data)}: ${suggestion("", schema.enum)}`;
  }
  if (wanted === "array" && typeof data !== "object") return `must be a list: write [${listed(String(data), schema)}]`;
  if (wanted === "object") return explainMapping(data, schema);
  const isQuoted = typeof data === "string" && (wanted === "integer" ? /^\d{1,15}$/ : /^(?:true|false)$/).test(data);
  return `must be ${NOUNS[wanted]}${isQuoted ? `: write it without quotes, ${data}` : ""}`;
}

/** Returns a text as the entries of a list: several, where it has values of the list between commas. */
function listed(text: string, { items }: Schema): string {
  const parts = text.split(",").map((part) => part.trim());
  const areValues = parts.length > 1 && parts.every((part) => items?.enum?.includes(part));
  return areValues ? parts.join(", ") : quote(text);
}

/** Words the complaint about a value that should be a mapping: a text there is mostly the name that belongs in it. */
function explainMapping(data: unknown, { properties = {}, required = [] }: Schema): string {
  const fields = Object.keys(properties);
  if (fields.length === 0) return `must be ${NOUNS.object}`;
  if (typeof data === "string" && "name" in properties && required.every((field) => field === "name")) {
    return `must be a mapping: write {name: ${quote(data)}}`;
  }
  return `must be a mapping with fields of these: ${fields.join(", ")}`;
}

function pathOf(pointer: string): Path {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll("~1", "/").replaceAll("~0", "~")));
}
