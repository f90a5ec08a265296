import { Registry } from "@prometheus-io/client";
import { type MemoryMetrics, memoryMetrics } from "../memory/memory.ts";
import { observeLog } from "../runtime/log-metrics.ts";
import { type AuthMetrics, authMetrics } from "../server/auth/metrics.ts";
import { type CountCutStream, cutStreamMetrics } from "../server/calls/call-metrics.ts";
import { type RequestMetrics, requestMetrics } from "../server/http/request-metrics.ts";
import { type IndexMetrics, indexMetrics } from "../server/key-index/metrics.ts";
import { type CountSpans, spanMetrics } from "../server/telemetry/metrics.ts";
import { type CountTokens, tokenMetrics } from "../server/usage/token-metrics.ts";
import { type CountDelivery, deliveryMetrics } from "../server/webhooks/metrics.ts";

/**
 * Metrics that a thread of the server counts from its start on; parts that are opened later register their own metrics
 * too.
 */
export type ServerMetrics = RequestMetrics &
  AuthMetrics &
  IndexMetrics &
  MemoryMetrics & {
    readonly registry: Registry;
    readonly countCutStream: CountCutStream;
    readonly countTokens: CountTokens;
    readonly countSpans: CountSpans;
    readonly countDelivery: CountDelivery;
  };

/** Makes the server's metrics on a registry of their own. */
export function createMetrics(): ServerMetrics {
  const registry = new Registry();
  observeLog(registry);
  return {
    registry,
    ...requestMetrics(registry),
    ...authMetrics(registry),
    ...indexMetrics(registry),
    ...memoryMetrics(registry),
    countCutStream: cutStreamMetrics(registry),
    countTokens: tokenMetrics(registry),
    countSpans: spanMetrics(registry),
    countDelivery: deliveryMetrics(registry),
  };
}
