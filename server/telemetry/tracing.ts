/**
 * Tracing of requests: a span for each request, which continues its caller's trace, and a span for each upstream that
 * is called.
 */
import type { IncomingMessage } from "node:http";
import type { Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { pause } from "../../runtime/deadline.ts";
import type { Logger } from "../../runtime/log.ts";
import type { OtlpConfig } from "../context/config.ts";
import { callerContext } from "./caller-context.ts";
import { countedExporter } from "./counted-exporter.ts";
import type { CountSpans } from "./metrics.ts";
import { RequestTrace } from "./request-trace.ts";

/** Begins the trace of a request in this process. */
export type Tracing = { begin(request: IncomingMessage): RequestTrace };

/**
 * Maximum number of spans that wait for a slow collector, about 10 MB. Any further spans are dropped, and no request
 * waits.
 */
const MAX_WAITING = 8_192;
const EXPORT_EVERY_MS = 1_000;
const EXPORT_TIMEOUT_MS = 10_000;
/** Milliseconds that a server waits at its end for its last spans to be taken. */
const LAST_EXPORT_MS = 2_000;

type TracingOptions = {
  /** Endpoint of the collector. */
  readonly otlp: OtlpConfig;
  readonly log: Logger;
  readonly count: CountSpans;
  /** Name of this process among the installation's servers. */
  readonly replica: string;
};

/**
 * Opens the tracing of requests, whose spans are sent to a collector as OTLP over HTTP. OpenTelemetry's own variables
 * apply: `OTEL_EXPORTER_OTLP_HEADERS` for a collector that requires a credential, `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES`.
 */
export function openTracing({ otlp, log, count, replica }: TracingOptions): {
  readonly tracing: Tracing;
  /** Sends the spans that wait, within two seconds. */
  close(): Promise<void>;
} {
  const sender = new OTLPTraceExporter({ url: `${otlp.endpoint}/v1/traces`, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "keyplane", "service.instance.id": replica }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(otlp.ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: countedExporter(sender, count, log),
        maxQueueSize: MAX_WAITING,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer: Tracer = provider.getTracer("keyplane");
  return {
    tracing: { begin: (request) => new RequestTrace(tracer, callerContext(request), request.method ?? "") },
    close: () => pause(LAST_EXPORT_MS, provider.shutdown().catch(ignore)),
  };
}

/** Ignores a failure: the exporter has logged why its spans were not taken. */
const ignore = (): void => {};
