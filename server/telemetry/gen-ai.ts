/** Attributes of a model call by OpenTelemetry's semantic conventions for generative AI, 1.41 (in development). */
import type { Attributes } from "@opentelemetry/api";
import { GATEWAY_OPERATIONS, type ServedOperation } from "../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../domain/access/key-record.ts";
import { isPlainModelName } from "../../domain/usage/model-name.ts";
import type { AnswerUsage } from "../../domain/usage/tokens.ts";

/** Call of an upstream. */
export type AskedUpstream = {
  readonly operation: ServedOperation;
  /** Dialect of the gateway. */
  readonly dialect: Dialect;
  readonly gatewayId: string;
  /** Id of the route; undefined if the call named none. */
  readonly routeId: string | undefined;
  /** Name of the upstream, as declared. */
  readonly upstream: string;
  /** Model; undefined if it is not known. */
  readonly model: string | undefined;
};

const PROVIDERS: Readonly<Record<Dialect, string>> = {
  openai: "openai",
  gemini: "gcp.gemini",
  anthropic: "anthropic",
};

/** Returns the name of an operation by the conventions, if they have one. */
function operationName(operation: ServedOperation): string {
  return GATEWAY_OPERATIONS[operation].span ?? operation.slice("gateway.".length);
}

/**
 * Returns the name of a span. It contains a model only if a route names it: other models are texts of callers, which
 * are unlimited in number (threats b342).
 */
export function spanName({ operation, routeId, model }: AskedUpstream): string {
  return [operationName(operation), ...(routeId === undefined ? [] : shown(model))].join(" ");
}

export function askedAttributes({
  operation,
  dialect,
  gatewayId,
  routeId,
  upstream,
  model,
}: AskedUpstream): Attributes {
  const [requested] = shown(model);
  return {
    "gen_ai.operation.name": operationName(operation),
    "gen_ai.provider.name": PROVIDERS[dialect],
    "gen_ai.request.model": requested,
    "keyplane.gateway.id": gatewayId,
    "keyplane.route.id": routeId,
    "keyplane.upstream": upstream,
  };
}

/** Returns the usage by the conventions, which count cached tokens among the input, and reasoning among the output. */
export function usageAttributes({ tokens, model, ending }: AnswerUsage): Attributes {
  const [answered] = shown(model);
  const written = tokens.cache_write_5m + tokens.cache_write_1h;
  return {
    "gen_ai.response.model": answered,
    "keyplane.usage": ending,
    ...((ending === "reported" || ending === "cut") && {
      "gen_ai.usage.input_tokens": tokens.input + tokens.cached + written,
      "gen_ai.usage.cache_read.input_tokens": tokens.cached,
      "gen_ai.usage.cache_creation.input_tokens": written,
      "gen_ai.usage.output_tokens": tokens.output + tokens.reasoning,
      "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
    }),
  };
}

/** Returns a model's name if it is a plain name, since others chose the text; else nothing. */
function shown(model: string | undefined): [] | [string] {
  return model !== undefined && isPlainModelName(model) ? [model] : [];
}
