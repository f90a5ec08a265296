import type { Registry } from "@prometheus-io/client";
import {
  ANSWER_ENDINGS,
  type AnswerEnding,
  type AnswerUsage,
  addTokens,
  KINDS_OF_TOKENS,
  NO_TOKENS,
  type TokenKind,
} from "../../domain/usage/tokens.ts";
import { registerCounted } from "../context/counted-metric.ts";

/** Counts what a model's answer through a gateway used, and how it reported it. */
export type CountTokens = (gatewayId: string, usage: AnswerUsage) => void;

/** Kinds in the metric of tokens: a sum of them is not to have images or seconds in it. */
const KINDS: readonly TokenKind[] = [...KINDS_OF_TOKENS, "tool_calls"];
/** Gateways that have time series of their own. */
const NAMED_GATEWAYS = 200;
/** The series of all others. No gateway has this id. */
const OTHER_GATEWAYS = "other";

/** Tokens and answers of a gateway. */
type Counted = { readonly tokens: Record<TokenKind, number>; readonly answers: Record<AnswerEnding, number> };

/** Registers the metrics of models' answers. */
export function tokenMetrics(registry: Registry): CountTokens {
  const gateways = new Map<string, Counted>();
  registerCounted(registry, {
    name: "keyplane_tokens_total",
    help: `Tokens that models' answers reported, by kind and gateway id; of the gateways beyond the first ${NAMED_GATEWAYS} that were used, under "other"`,
    labelNames: ["gateway_id", "kind"],
    read: () =>
      [...gateways].flatMap(([gateway_id, { tokens }]) =>
        KINDS.map((kind) => [{ gateway_id, kind }, tokens[kind]] as const),
      ),
  });
  registerCounted(registry, {
    name: "keyplane_model_answers_total",
    help: "Models' answers by gateway id, as in keyplane_tokens_total, and by whether they reported their usage, were cut before, reported none, or came in a coding or media type that is not read",
    labelNames: ["gateway_id", "usage"],
    read: () =>
      [...gateways].flatMap(([gateway_id, { answers }]) =>
        ANSWER_ENDINGS.map((usage) => [{ gateway_id, usage }, answers[usage]] as const),
      ),
  });
  const begin = (gatewayId: string): Counted => {
    const name = gateways.size < NAMED_GATEWAYS ? gatewayId : OTHER_GATEWAYS;
    const known = gateways.get(name);
    if (known !== undefined) return known;
    const counted: Counted = { tokens: { ...NO_TOKENS }, answers: { reported: 0, cut: 0, unreported: 0, unread: 0 } };
    gateways.set(name, counted);
    return counted;
  };
  return (gatewayId, { ending, tokens }) => {
    const counted = gateways.get(gatewayId) ?? begin(gatewayId);
    addTokens(counted.tokens, tokens);
    counted.answers[ending]++;
  };
}
