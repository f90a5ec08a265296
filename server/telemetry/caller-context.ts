import type { IncomingMessage } from "node:http";
import { type Context, defaultTextMapGetter, ROOT_CONTEXT } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { containsKey } from "../../domain/redact.ts";

const PROPAGATOR = new W3CTraceContextPropagator();

/**
 * Returns the trace that a request's caller is in, by W3C Trace Context; the root if its headers name none, or are
 * malformed. A caller's trace state goes on to the collector and to upstreams, so it is dropped if it contains a key.
 */
export function callerContext({ headers }: Pick<IncomingMessage, "headers">): Context {
  if (headers.traceparent === undefined) return ROOT_CONTEXT;
  const { traceparent, tracestate } = headers;
  const carrier =
    tracestate === undefined || containsKey(String(tracestate)) ? { traceparent } : { traceparent, tracestate };
  return PROPAGATOR.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
}

/** Returns the headers that continue a trace, as alternating names and values. */
export function traceHeaders(context: Context): string[] {
  const headers: string[] = [];
  PROPAGATOR.inject(context, headers, { set: (into, name, value) => into.push(name, value) });
  return headers;
}
