import { BodyFault, type JsonBounds, JsonScanner, type JsonVisitor, malformed } from "./json-scanner.ts";

/** Bounds of a body of an API: far more than any meaningful body has, and little to parse and to check. */
export const API_BOUNDS: JsonBounds = { values: 10_000, depth: 64 };

/**
 * State of an object: the names of its members so far, and true if it is the value of a member called `constructor`.
 */
type Members = { readonly names: Set<string>; readonly isConstructor: boolean };
/** Context of a value. Null within an array, which has no names, and if the scan needs nothing about a value. */
type Context = Members | "constructor" | null;

/**
 * Returns a scan of a whole body before it is parsed: for its bounds, and for objects that have a member twice. Of two
 * members with the same name one parser keeps the first and another the last, so that code could decide by one and act
 * on the other (threats b94). Members that could change the prototype of objects are refused here: the parser would
 * report them as broken JSON, which they are not.
 *
 * @throws BodyFault from its slices
 */
export function memberScan(body: Buffer): JsonScanner<Context> {
  const visitor: JsonVisitor<Context> = {
    open: (context, isObject) => (isObject ? { names: new Set(), isConstructor: context === "constructor" } : null),
    member: (object, start, end) => {
      if (object === null || object === "constructor") return null;
      const { names, isConstructor } = object;
      const name = decodeName(body, start, end);
      if (name === "__proto__") throw PROTO;
      if (isConstructor && name === "prototype") throw CONSTRUCTOR_PROTOTYPE;
      if (names.has(name)) throw DUPLICATE;
      names.add(name);
      return name === "constructor" ? name : null;
    },
    scalar: () => {},
  };
  return new JsonScanner(body, API_BOUNDS, visitor, null);
}

const PROTO = new BodyFault('The body has a member "__proto__", which nothing here takes: leave it out.');
const CONSTRUCTOR_PROTOTYPE = new BodyFault(
  'The body has a member "constructor" with a "prototype" in it, by which a program that copies it changes all of its objects: leave it out.',
);
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
