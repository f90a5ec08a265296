import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { AnswerUsage } from "../../domain/usage/tokens.ts";
import { traceHeaders } from "./caller-context.ts";
import { type AskedUpstream, askedAttributes, spanName, usageAttributes } from "./gen-ai.ts";

/** End of a request. */
type RequestEnd = {
  readonly status: number;
  /** True if the caller has got its whole answer. */
  readonly isAnswered: boolean;
  /** Pattern of its route; undefined for none. */
  readonly route: string | undefined;
  /** Operation and key; undefined if no key was let through. */
  readonly access:
    | { readonly operation: string; readonly key: Pick<KeyRecord, "keyId" | "teamId" | "membership"> }
    | undefined;
};

/** Trace of a request, within its caller's trace or as a new trace. */
export class RequestTrace {
  readonly #tracer: Tracer;
  readonly #method: string;
  readonly #context: Context;
  readonly #span: Span;
  #brokenOff: string | undefined;

  constructor(tracer: Tracer, caller: Context, method: string) {
    this.#tracer = tracer;
    this.#method = method;
    this.#span = tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, attributes: { "http.request.method": method } },
      caller,
    );
    this.#context = trace.setSpan(caller, this.#span);
  }

  /** Begins the span of an upstream that is called. */
  ask(asked: AskedUpstream): UpstreamTrace {
    const options = { kind: SpanKind.CLIENT, attributes: askedAttributes(asked) };
    const span = this.#tracer.startSpan(spanName(asked), options, this.#context);
    return new UpstreamTrace(span, trace.setSpan(this.#context, span));
  }

  /**
   * Notes that its answer has begun but will not be completed.
   *
   * @param why type of the problem, in few words that are the same for all of its kind
   */
  breakOff(why: string): void {
    this.#brokenOff = why;
  }

  end({ status, isAnswered, route, access }: RequestEnd): void {
    const span = this.#span;
    if (route !== undefined) {
      span.updateName(`${this.#method} ${route}`);
      span.setAttribute("http.route", route);
    }
    if (access !== undefined) {
      span.setAttribute("keyplane.operation", access.operation);
      // A member's token has their name in place of an id, which is not for those who look at traces.
      if (access.key.membership === undefined) span.setAttribute("keyplane.key.id", access.key.keyId);
      span.setAttribute("keyplane.team.id", access.key.teamId);
    }
    const isWhole = isAnswered && this.#brokenOff === undefined;
    if (isWhole) span.setAttribute("http.response.status_code", status);
    if (!isWhole) fail(span, this.#brokenOff ?? "client_closed");
    else if (status >= 500) fail(span, String(status));
    span.end();
  }
}

/** Span of an upstream in a request. */
export class UpstreamTrace {
  readonly #span: Span;
  /** Headers that continue the trace at the upstream, as alternating names and values. */
  readonly headers: readonly string[];

  constructor(span: Span, context: Context) {
    this.#span = span;
    this.headers = traceHeaders(context);
  }

  answered(status: number): void {
    this.#span.setAttribute("http.response.status_code", status);
    if (status >= 400) fail(this.#span, String(status));
  }

  /** Ends the span as failed. @param why type of the problem, in few words that are the same for all of its kind */
  failed(why: string): void {
    fail(this.#span, why);
    this.#span.end();
  }

  /**
   * Ends the span. A second end changes nothing. @param usage reported usage of the answer; undefined if it reports
   * none
   */
  end(usage?: AnswerUsage): void {
    if (usage !== undefined) this.#span.setAttributes(usageAttributes(usage));
    this.#span.end();
  }
}

function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
