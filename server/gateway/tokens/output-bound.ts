import type { GatewayOperation } from "../../../domain/access/operations.ts";
import type { OutputBound } from "../../../domain/usage/token-reservation.ts";
import { BodyFault, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { problem } from "../../http/errors.ts";

/** Names of members, and these as parsers may take them that look less closely. */
type Names = { readonly exact: ReadonlySet<string>; readonly folded: ReadonlySet<string> };
/** How a format says how much an answer may have. */
type Bounds = {
  /** The most tokens of one answer. */
  readonly most: Names;
  /** How many answers there are to be. */
  readonly answers?: Names;
  /** What is answered, each element of a list by itself. */
  readonly prompts?: Names;
  /** What these are within where they are not at the top. */
  readonly within?: Names;
};

const GEMINI: Bounds = {
  most: namesOf("maxOutputTokens", "max_output_tokens"),
  answers: namesOf("candidateCount", "candidate_count"),
  within: namesOf("generationConfig", "generation_config"),
};
const BOUNDS: Readonly<Partial<Record<GatewayOperation, Bounds>>> = {
  "gateway.chat_completions": { most: namesOf("max_tokens", "max_completion_tokens"), answers: namesOf("n") },
  "gateway.completions": {
    most: namesOf("max_tokens"),
    answers: namesOf("n", "best_of"),
    prompts: namesOf("prompt"),
  },
  "gateway.responses": { most: namesOf("max_output_tokens") },
  "gateway.messages": { most: namesOf("max_tokens") },
  "gateway.generate_content": GEMINI,
  "gateway.stream_generate_content": GEMINI,
};
/** What some upstreams go by before it: llama.cpp's own name, and what LiteLLM writes over the members beside it. */
const OVERRULING = namesOf("n_predict", "extra_body");
/** No format has a longer name, with each letter escaped and its quotes: one that is longer can hide what it means. */
const LONGEST_NAME = 144;
const BODY_BOUNDS = { values: 1_000_000, depth: 256 };
const QUOTE = 0x22;

/**
 * How much a body lets the answer have. The larger of two bounds, where a format has two; none where it is there twice, in
 * a spelling that some parsers take for it and others do not, or beside what some upstreams take instead: which one an
 * upstream goes by is not known (threats b203). Nor of 0, which is no bound to some (threats b243).
 *
 * @throws Problem 400 for what is no JSON, or more of it than is read: an upstream that reads it all the same would do what
 *   is not known here (threats b237)
 */
export async function outputBound(operation: GatewayOperation, body: Buffer): Promise<OutputBound> {
  const bounds = BOUNDS[operation];
  if (bounds === undefined) return { most: undefined, answers: 1 };
  const seen = new Set<string>();
  let most: number | undefined;
  let answers = 1;
  let prompts = 0;
  let isDoubtful = false;
  const isOneOf = (wanted: Names | undefined, name: string): boolean => {
    const folded = fold(name);
    if (wanted === undefined || !wanted.folded.has(folded)) return false;
    if (seen.has(folded) || !wanted.exact.has(name)) isDoubtful = true;
    seen.add(folded);
    return true;
  };
  const visitor: JsonVisitor<"top" | "within" | "most" | "answers" | "prompts" | "prompt"> = {
    open: (context, isObject) => {
      if (isObject) return context === "top" || context === "within" ? context : undefined;
      if (context === "prompts") return "prompt";
      // A prompt in tokens, which are numbers.
      if (context === "prompt") prompts++;
      return undefined;
    },
    member: (object, start, end) => {
      if (end - start > LONGEST_NAME) throw new BodyFault(`A member's name is longer than ${LONGEST_NAME} bytes.`);
      const name = textIn(body.toString("utf8", start, end));
      if (name === undefined) return undefined;
      if (object === "top" && OVERRULING.folded.has(fold(name))) isDoubtful = true;
      if (object === "top" && bounds.within !== undefined) return isOneOf(bounds.within, name) ? "within" : undefined;
      if (isOneOf(bounds.most, name)) return "most";
      if (isOneOf(bounds.answers, name)) return "answers";
      return isOneOf(bounds.prompts, name) ? "prompts" : undefined;
    },
    scalar: (context, start, end) => {
      if (context === "prompt" && body[start] === QUOTE) prompts++;
      if (context !== "most" && context !== "answers") return;
      const text = body.toString("utf8", start, end);
      const value = Math.min(numberIn(text), Number.MAX_SAFE_INTEGER);
      if (context === "answers") {
        if (value > answers) answers = Math.ceil(value);
      } else if (text !== "null") {
        // Some upstreams take a text for the number in it, and others for none.
        if (value >= 1 && body[start] !== QUOTE) most = Math.max(most ?? 0, Math.ceil(value));
        else isDoubtful = true;
      }
    },
  };
  const scanner = new JsonScanner(body, BODY_BOUNDS, visitor, "top");
  try {
    await inSlices((steps) => scanner.run(steps));
  } catch (error) {
    throw error instanceof BodyFault ? problem("invalid_request", error.message) : error;
  }
  return { most: isDoubtful ? undefined : most, answers: answers * Math.max(1, prompts) };
}

/** A number as parsers may take it that look less closely: a text too, as Gemini's and pydantic's do. NaN for none. */
function numberIn(scalar: string): number {
  return Number(scalar.startsWith('"') ? textIn(scalar)?.replaceAll("_", "") : scalar);
}

/** Undefined for what is no JSON. */
function textIn(quoted: string): string | undefined {
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

/**
 * A name as parsers may take it that ignore its case, as Go's do, or which of two styles it is in, as Gemini's, or that
 * take it to end at a NUL, as C's do.
 */
function fold(name: string): string {
  return name.replace(/\0.*/s, "").replaceAll("_", "").toUpperCase().toLowerCase();
}
