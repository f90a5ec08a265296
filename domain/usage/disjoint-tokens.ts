import type { Dialect } from "../access/key-record.ts";
import { type Figures, largestFigures, type ReportedFigures } from "./reported-figures.ts";
import type { Tokens } from "./tokens.ts";

/**
 * Disjoint token counts, with units of 0. `fits` is false if a part was reported larger than its whole, and so is
 * counted beside it.
 */
type Disjoint = { readonly tokens: Tokens; readonly fits: boolean };

/** Makes the reported figures disjoint: the dialect determines which figures include others. */
export function disjointTokens(dialect: Dialect, reported: ReportedFigures): Disjoint {
  return DISJOINT[dialect](largestFigures(dialect, reported));
}

const DISJOINT: Readonly<Record<Dialect, (figures: Figures) => Disjoint>> = {
  openai: disjointOfOpenAi,
  anthropic: disjointOfAnthropic,
  gemini: disjointOfGemini,
};

/**
 * Makes OpenAI's figures disjoint: the prompt includes cache reads and writes, and the completion includes reasoning.
 * Providers whose figures have either of these beside it reveal that by their total, which covers everything that was
 * used. So does Mistral's with the tokens of sound. Perplexity's total does not: what it has found is read beside its
 * prompt, and its reasoning is a step before the completion.
 */
function disjointOfOpenAi(figures: Figures): Disjoint {
  const { cached = 0, completion = 0, reasoning = 0, total = 0, citations = 0, searches = 0, written1h = 0 } = figures;
  const written = writtenOf(figures);
  const notWritten = Math.max(0, total - Math.max(completion, reasoning));
  const { prompt: said = notWritten, heard = 0 } = figures;
  const prompt = heard > 0 ? Math.max(said, notWritten) : said;
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
      images: 0,
      seconds: 0,
      characters: 0,
    },
    fits: isWithin && (ofCache <= prompt || read + completion <= total),
  };
}

/** Makes Anthropic's figures disjoint: they are reported apart. */
function disjointOfAnthropic(figures: Figures): Disjoint {
  const { prompt = 0, cached = 0, written1h = 0, completion = 0, searches = 0 } = figures;
  return {
    tokens: {
      input: prompt,
      cached,
      cache_write_5m: writtenOf(figures) - written1h,
      cache_write_1h: written1h,
      output: completion,
      reasoning: 0,
      tool_calls: searches,
      images: 0,
      seconds: 0,
      characters: 0,
    },
    fits: true,
  };
}

/** Returns the cache writes of both lifetimes. A sum without lifetimes is of the provider's usual one, five minutes. */
function writtenOf({ written = 0, written5m = 0, written1h = 0 }: Figures): number {
  return Math.max(written, written5m + written1h);
}

/** Makes Gemini's figures disjoint: the prompt includes cached tokens, the total all; thoughts and tools are apart. */
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
      images: 0,
      seconds: 0,
      characters: 0,
    },
    fits: cached <= prompt,
  };
}
