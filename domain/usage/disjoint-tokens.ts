import type { Dialect } from "../access/key-record.ts";
import { type Figures, largestFigures, type ReportedFigures } from "./reported-figures.ts";
import type { Tokens } from "./tokens.ts";

/** `fits` is false where a part is larger than its whole: it counts beside it. */
type Disjoint = { readonly tokens: Tokens; readonly fits: boolean };

/** Makes what was reported disjoint, as the dialect has it: which of its figures include others. */
export function disjointTokens(dialect: Dialect, reported: ReportedFigures): Disjoint {
  return DISJOINT[dialect](largestFigures(dialect, reported));
}

const DISJOINT: Readonly<Record<Dialect, (figures: Figures) => Disjoint>> = {
  openai: disjointOfOpenAi,
  anthropic: disjointOfAnthropic,
  gemini: disjointOfGemini,
};

/**
 * OpenAI's prompt includes what the cache had and what was written to it, and its completion the reasoning. Providers that
 * have either beside it say so by their total, which is of all that was used. Perplexity's total is not: what it has found
 * is read beside its prompt, and its reasoning is a step before the completion.
 */
function disjointOfOpenAi(figures: Figures): Disjoint {
  const { cached = 0, completion = 0, reasoning = 0, total = 0, citations = 0, searches = 0, written1h = 0 } = figures;
  const written = writtenOf(figures);
  const { prompt = Math.max(0, total - Math.max(completion, reasoning)) } = figures;
  const ofCache = cached + written;
  const rest = total - prompt - completion;
  const saysBeside = rest !== reasoning && (rest === ofCache || rest === ofCache + reasoning);
  const read = (saysBeside || ofCache > prompt ? prompt + ofCache : prompt) + citations;
  const hasSearched = citations + searches > 0;
  const wrote = Math.max(hasSearched ? completion + reasoning : completion, total - read);
  const isWithin = reasoning <= wrote;
  return {
    tokens: {
      input: read - ofCache,
      cached,
      cache_write_5m: written - written1h,
      cache_write_1h: written1h,
      output: isWithin ? wrote - reasoning : completion,
      reasoning,
      tool_calls: searches,
    },
    fits: isWithin && (ofCache <= prompt || read + completion <= total),
  };
}

/** Anthropic's are apart. */
function disjointOfAnthropic(figures: Figures): Disjoint {
  const { prompt = 0, cached = 0, written1h = 0, completion = 0, searches = 0, fetches = 0 } = figures;
  return {
    tokens: {
      input: prompt,
      cached,
      cache_write_5m: writtenOf(figures) - written1h,
      cache_write_1h: written1h,
      output: completion,
      reasoning: 0,
      tool_calls: searches + fetches,
    },
    fits: true,
  };
}

/** Of both lifetimes. A sum without them is of the provider's usual one, five minutes. */
function writtenOf({ written = 0, written5m = 0, written1h = 0 }: Figures): number {
  return Math.max(written, written5m + written1h);
}

/** Gemini's prompt includes what is cached; thoughts, and what tools brought, are apart. The total is of all of them. */
function disjointOfGemini(figures: Figures): Disjoint {
  const { cached = 0, completion = 0, reasoning = 0, toolPrompt = 0, total = 0 } = figures;
  const apart = completion + reasoning + toolPrompt;
  const { prompt = Math.max(0, total - apart) } = figures;
  return {
    tokens: {
      input: Math.max(0, prompt - cached) + toolPrompt,
      cached,
      cache_write_5m: 0,
      cache_write_1h: 0,
      output: completion + Math.max(0, total - prompt - apart),
      reasoning,
      tool_calls: 0,
    },
    fits: cached <= prompt,
  };
}
