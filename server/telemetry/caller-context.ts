import type { IncomingMessage } from "node:http";
import { type Context, defaultTextMapGetter, ROOT_CONTEXT } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { containsKey } from "../../domain/redact.ts";

const PROPAGATOR = new W3CTraceContextPropagator();

/**
 * The trace that a request's caller is in, by W3C Trace Context; none where its headers name none, or are not well
 * formed. What else a caller sends of its trace goes to the collector and upstream: nothing with a key in it is taken.
 */
export function callerContext({ headers }: Pick<IncomingMessage, "headers">): Context {
  if (headers.traceparent === undefined) return ROOT_CONTEXT;
  const { traceparent, tracestate } = headers;
  const carrier =
    tracestate === undefined || containsKey(String(tracestate)) ? { traceparent } : { traceparent, tracestate };
  return PROPAGATOR.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
}

/** The headers that carry a trace on, names and values in turn. */
export function traceHeaders(context: Context): string[] {
  const headers: string[] = [];
  PROPAGATOR.inject(context, headers, { set: (into, name, value) => into.push(name, value) });
  return headers;
}
