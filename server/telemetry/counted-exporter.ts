import { ExportResultCode } from "@opentelemetry/core";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "../../runtime/log.ts";
import type { CountSpans } from "./metrics.ts";

/** Wraps an exporter of spans: counts the spans, and logs why a collector did not take them. */
export function countedExporter(sender: SpanExporter, count: CountSpans, log: Logger): SpanExporter {
  return {
    export(spans, done) {
      sender.export(spans, (result) => {
        const isTaken = result.code === ExportResultCode.SUCCESS;
        count(isTaken ? "exported" : "failed", spans.length);
        if (!isTaken) {
          const about = { error: result.error, ...statusOf(result.error), count: spans.length };
          log.warn(about, "the collector did not take the spans");
        }
        done(result);
      });
    },
    forceFlush: () => sender.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => sender.shutdown(),
  };
}

/** Returns the status of the collector's answer, since the error's text may be empty. */
function statusOf(error: (Error & { readonly code?: unknown }) | undefined): { readonly status?: number } {
  return typeof error?.code === "number" ? { status: error.code } : {};
}
