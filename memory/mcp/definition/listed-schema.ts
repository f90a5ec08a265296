type Json = Readonly<Record<string, unknown>>;

/** What a model makes nothing of: a call that breaks it is answered with what is wrong. */
const UNLISTED: ReadonlySet<string> = new Set([
  ...["pattern", "minLength", "maxLength", "minItems", "uniqueItems", "maxProperties", "propertyNames"],
]);

/**
 * A tool's input schema as it is listed: each session pays for every word of it, whichever tools it calls. The fields of
 * objects within a list are described where they stand beside it, with what null means; there they are left out instead. Nor
 * is it said there that an object has no other fields.
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
  // Of these the names are the caller's fields.
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, listedSchema({ ...field }, isWithinList)]),
  );
}

/** One type by itself, as all fields have it that may be null. */
function withoutNull(types: readonly unknown[]): unknown {
  const others = types.filter((type) => type !== "null");
  return others.length === 1 ? others[0] : others;
}
