type Json = Readonly<Record<string, unknown>>;

/** The keywords that say something of one type alone. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern", "format"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  array: ["items", "minItems", "maxItems", "uniqueItems"],
  object: ["properties", "required", "additionalProperties", "patternProperties", "maxProperties", "propertyNames"],
};

/**
 * The same schema with one type in each place: `type: [a, b]` as `anyOf`. The dialects that some clients turn the
 * schemas of tools into, such as Gemini's function declarations, have no list of types, and a tool with one is lost; so
 * is a field in what some programs generate of an OpenAPI document.
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
