type Json = Readonly<Record<string, unknown>>;

/** Keywords that apply to a single type, by the type. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern", "format"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  array: ["items", "minItems", "maxItems", "uniqueItems"],
  object: ["properties", "required", "additionalProperties", "patternProperties", "maxProperties", "propertyNames"],
};

/**
 * Returns the same schema with a single type in each position: `type: [a, b]` becomes `anyOf`. The dialects that some
 * clients convert the schemas of tools to, such as Gemini's function declarations, have no list of types, so that a
 * tool with one is lost. Some programs that generate code from an OpenAPI document lose a field in the same way.
 */
export function withSingleTypes(schema: Json): Json {
  const { type, ...rest } = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, within(value)]));
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest };
  const anyOf = type.map((one: string) => ({
    type: one,
    ...only(rest, (name) => KEYWORDS[one]?.includes(name) === true),
  }));
  return { ...only(rest, (name) => !anyOf.some((branch) => name in branch)), anyOf };
}

function within(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(within);
  return typeof value === "object" && value !== null ? withSingleTypes({ ...value }) : value;
}

function only(schema: Json, isMeant: (name: string) => boolean): Json {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => isMeant(name)));
}
