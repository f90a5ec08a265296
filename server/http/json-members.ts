import { BodyFault, type JsonBounds, JsonScanner, type JsonVisitor, malformed } from "./json-scanner.ts";

/** What a body of an API may hold: far more than any that means something, and little to parse and to check. */
export const API_BOUNDS: JsonBounds = { values: 10_000, depth: 64 };

/** The names that an object has had; null for an array, which has none. */
type Names = Set<string> | null;

/**
 * A scan of a whole body before it is parsed: for its bounds, and for objects that have a member twice. Of those each
 * parser keeps one or the other, and whoever decides by one may act on the other (threats b94). A `__proto__` the parser
 * would refuse as JSON that is broken, which it is not.
 *
 * @throws BodyFault from its slices
 */
export function memberScan(body: Buffer): JsonScanner<Names> {
  const visitor: JsonVisitor<Names> = {
    open: (_context, isObject) => (isObject ? new Set() : null),
    member: (names, start, end) => {
      const name = decodeName(body, start, end);
      if (name === "__proto__") throw PROTOTYPE;
      if (names?.has(name)) throw DUPLICATE;
      names?.add(name);
      return null;
    },
    scalar: () => {},
  };
  return new JsonScanner(body, API_BOUNDS, visitor, null);
}

const PROTOTYPE = new BodyFault('The body has a member "__proto__", which nothing here takes: leave it out.');
const DUPLICATE = new BodyFault("The body has an object with two members of one name.");

function decodeName(body: Buffer, start: number, end: number): string {
  const quoted = body.toString("utf8", start, end);
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw malformed();
  }
}
