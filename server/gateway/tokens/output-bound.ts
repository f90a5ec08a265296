import { BodyFault, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { inSlices } from "../../http/bodies/slices.ts";

/** What the formats call the most tokens that an answer may have; Gemini's is within its configuration. */
const BOUNDS: ReadonlySet<string> = new Set([
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "maxOutputTokens",
]);
const CONFIGURATIONS: ReadonlySet<string> = new Set(["generationConfig", "generation_config"]);
/** No name that is looked for is longer, with its quotes. */
const LONGEST_NAME = 24;
const BODY_BOUNDS = { values: 1_000_000, depth: 256 };

/**
 * The most tokens that a body lets the answer have, where it says so: the largest, where there are several. Undefined
 * for what is no JSON, too, which the upstream may refuse.
 */
export async function outputBound(body: Buffer): Promise<number | undefined> {
  let most: number | undefined;
  const visitor: JsonVisitor<"object" | "bound"> = {
    open: (context, isObject) => (isObject && context === "object" ? "object" : undefined),
    member: (_, start, end) => {
      if (end - start > LONGEST_NAME) return undefined;
      const name = body.toString("latin1", start + 1, end - 1);
      if (BOUNDS.has(name)) return "bound";
      return CONFIGURATIONS.has(name) ? "object" : undefined;
    },
    scalar: (context, start, end) => {
      const value = context === "bound" ? Number(body.toString("latin1", start, end)) : Number.NaN;
      if (Number.isSafeInteger(value) && value >= 0) most = Math.max(most ?? 0, value);
    },
  };
  const scanner = new JsonScanner(body, BODY_BOUNDS, visitor, "object");
  try {
    await inSlices((steps) => scanner.run(steps));
  } catch (error) {
    if (!(error instanceof BodyFault)) throw error;
    return undefined;
  }
  return most;
}
