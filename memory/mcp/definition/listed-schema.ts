type Json = Readonly<Record<string, unknown>>;

/** Keywords that a model makes nothing of: a call that breaks them is answered with what is wrong. */
const UNLISTED: ReadonlySet<string> = new Set([
  ...["pattern", "minLength", "maxLength", "minItems", "uniqueItems", "maxProperties", "propertyNames"],
]);

/**
 * Returns a tool's input schema as it is listed, shortened: each session pays for every word of it, whichever tools it
 * calls. Within a list the fields of objects have no description, since the same fields are described beside it, and no
 * null, since they can be left out instead. Nor does it say there that an object has no other fields.
 */
export function listedSchema(schema: Json, isWithinList = false): Json {
  const isListed = ([keyword, value]: readonly [string, unknown]) =>
    !UNLISTED.has(keyword) && !(isWithinList && (keyword === "description" || value === false));
  return Object.fromEntries(
    Object.entries(schema)
      .filter(isListed)
      .map(([keyword, value]) => [keyword, listedValue(keyword, value, isWithinList)]),
  );
}

function listedValue(keyword: string, value: unknown, isWithinList: boolean): unknown {
  if (keyword === "type" && Array.isArray(value) && isWithinList) return withoutNull(value);
  if (Array.isArray(value) || typeof value !== "object" || value === null) return value;
  if (keyword !== "properties") return listedSchema({ ...value }, isWithinList || keyword === "items");
  // The names in `properties` are fields of the caller's, and no keywords.
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, listedSchema({ ...field }, isWithinList)]),
  );
}

/** Returns the types without null; one type by itself, and not as a list. */
function withoutNull(types: readonly unknown[]): unknown {
  const others = types.filter((type) => type !== "null");
  return others.length === 1 ? others[0] : others;
}
