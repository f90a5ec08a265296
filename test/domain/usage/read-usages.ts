import type { Dialect } from "../../../domain/access/key-record.ts";
import { disjointTokens } from "../../../domain/usage/disjoint-tokens.ts";
import { noFigures, noteUsage } from "../../../domain/usage/reported-figures.ts";
import { NO_TOKENS, type Tokens } from "../../../domain/usage/tokens.ts";

/** What the usages of one answer come to, one after the other. */
export function readUsages(dialect: Dialect, ...usages: readonly unknown[]) {
  const reported = noFigures();
  const isSound = usages.map((usage) => noteUsage(reported, dialect, usage)).every(Boolean);
  return { ...disjointTokens(dialect, reported), isSound };
}

/** What {@link readUsages} returns of usages that can be. */
export function sound(tokens: Partial<Tokens>) {
  return { tokens: { ...NO_TOKENS, ...tokens }, fits: true, isSound: true };
}

/** A usage of a chat completion. */
export function chat(prompt: number, completion: number, total?: number, reasoning?: number, cached?: number) {
  return {
    ...{ prompt_tokens: prompt, completion_tokens: completion, total_tokens: total },
    ...{ completion_tokens_details: { reasoning_tokens: reasoning }, prompt_tokens_details: { cached_tokens: cached } },
  };
}
