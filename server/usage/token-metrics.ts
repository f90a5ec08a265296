import type { Registry } from "@prometheus-io/client";
import type { TokenFigures } from "../../domain/usage/token-count.ts";
import { ANSWER_ENDINGS, type AnswerEnding, TOKEN_KINDS } from "../../domain/usage/tokens.ts";
import { registerCounted } from "../context/counted-metric.ts";

/** Counts what a model's answer through a gateway used, and how it reported it. */
export type CountTokens = (gatewayId: string, ending: AnswerEnding, figures: TokenFigures) => void;

/** Gateways that have time series of their own. */
const NAMED_GATEWAYS = 200;
/** The series of all others. No gateway has this id. */
const OTHER_GATEWAYS = "other";

/** Registers the metrics of models' answers. */
export function tokenMetrics(registry: Registry): CountTokens {
  const gateways = new Map<string, { readonly tokens: number[]; readonly answers: number[] }>();
  registerCounted(registry, {
    name: "keyplane_tokens_total",
    help: `Tokens that models' answers reported, by kind and gateway id; of the gateways beyond the first ${NAMED_GATEWAYS} that were used, under "other"`,
    labelNames: ["gateway_id", "kind"],
    read: () =>
      [...gateways].flatMap(([gateway_id, { tokens }]) =>
        TOKEN_KINDS.map((kind, i) => [{ gateway_id, kind }, tokens[i] ?? 0] as const),
      ),
  });
  registerCounted(registry, {
    name: "keyplane_model_answers_total",
    help: "Models' answers by gateway id, as in keyplane_tokens_total, and by whether they reported their usage, were cut before, reported none, or came in a coding that is not read",
    labelNames: ["gateway_id", "usage"],
    read: () =>
      [...gateways].flatMap(([gateway_id, { answers }]) =>
        ANSWER_ENDINGS.map((usage, i) => [{ gateway_id, usage }, answers[i] ?? 0] as const),
      ),
  });
  return (gatewayId, ending, figures) => {
    const name = gateways.has(gatewayId) || gateways.size < NAMED_GATEWAYS ? gatewayId : OTHER_GATEWAYS;
    let counted = gateways.get(name);
    if (counted === undefined) {
      counted = { tokens: TOKEN_KINDS.map(() => 0), answers: ANSWER_ENDINGS.map(() => 0) };
      gateways.set(name, counted);
    }
    for (const [i, kind] of TOKEN_KINDS.entries()) counted.tokens[i] = (counted.tokens[i] ?? 0) + figures[kind];
    const place = ANSWER_ENDINGS.indexOf(ending);
    counted.answers[place] = (counted.answers[place] ?? 0) + 1;
  };
}
