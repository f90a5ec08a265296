import type { GatewayOperation } from "../../../domain/access/operations.ts";
import { BodyFault, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { inSlices } from "../../http/bodies/slices.ts";

/** Names of members, and these as parsers may take them that look less closely. */
type Names = { readonly exact: ReadonlySet<string>; readonly folded: ReadonlySet<string> };
/** What a format calls the most tokens that an answer may have, and what it is within where it is not at the top. */
type Bounds = { readonly names: Names; readonly within?: Names };

const GEMINI: Bounds = {
  names: namesOf("maxOutputTokens", "max_output_tokens"),
  within: namesOf("generationConfig", "generation_config"),
};
const BOUNDS: Readonly<Partial<Record<GatewayOperation, Bounds>>> = {
  "gateway.chat_completions": { names: namesOf("max_tokens", "max_completion_tokens") },
  "gateway.completions": { names: namesOf("max_tokens") },
  "gateway.responses": { names: namesOf("max_output_tokens") },
  "gateway.messages": { names: namesOf("max_tokens") },
  "gateway.generate_content": GEMINI,
  "gateway.stream_generate_content": GEMINI,
};
/** No name that is looked for is shorter, or longer with each letter escaped, its quotes included. */
const [SHORTEST_NAME, LONGEST_NAME] = [11, 144];
const BODY_BOUNDS = { values: 1_000_000, depth: 256 };

/**
 * The most tokens that a body lets the answer have, where it says so: the larger, where a format has two. Undefined for
 * what is no JSON, too, which the upstream may refuse; and where it says it twice, or in a spelling that some parsers take
 * for it and others do not: which one an upstream goes by is not known (threats b203).
 */
export async function outputBound(operation: GatewayOperation, body: Buffer): Promise<number | undefined> {
  const bounds = BOUNDS[operation];
  if (bounds === undefined) return undefined;
  const { names, within } = bounds;
  const seen = new Set<string>();
  let most: number | undefined;
  let isDoubtful = false;
  const isOneOf = (wanted: Names, name: string): boolean => {
    const folded = fold(name);
    if (!wanted.folded.has(folded)) return false;
    if (seen.has(folded) || !wanted.exact.has(name)) isDoubtful = true;
    seen.add(folded);
    return true;
  };
  const visitor: JsonVisitor<"top" | "within" | "bound"> = {
    open: (context, isObject) => (isObject && context !== "bound" ? context : undefined),
    member: (object, start, end) => {
      const length = end - start;
      if (length < SHORTEST_NAME || length > LONGEST_NAME) return undefined;
      const name = nameIn(body.toString("utf8", start, end));
      if (name === undefined) return undefined;
      if (object === "top" && within !== undefined) return isOneOf(within, name) ? "within" : undefined;
      return isOneOf(names, name) ? "bound" : undefined;
    },
    scalar: (context, start, end) => {
      const value = context === "bound" ? Number(body.toString("latin1", start, end)) : Number.NaN;
      if (Number.isSafeInteger(value) && value >= 0) most = Math.max(most ?? 0, value);
    },
  };
  const scanner = new JsonScanner(body, BODY_BOUNDS, visitor, "top");
  try {
    await inSlices((steps) => scanner.run(steps));
  } catch (error) {
    if (!(error instanceof BodyFault)) throw error;
    return undefined;
  }
  return isDoubtful ? undefined : most;
}

/** Undefined for what is no JSON. */
function nameIn(quoted: string): string | undefined {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

function namesOf(...names: readonly string[]): Names {
  return { exact: new Set(names), folded: new Set(names.map(fold)) };
}

/** A name as parsers may take it that ignore its case, as Go's do, or which of two styles it is in, as Gemini's. */
function fold(name: string): string {
  return name.replaceAll("_", "").toUpperCase().toLowerCase();
}
