import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { OpenCall } from "../../calls/calls.ts";
import { READ_CODINGS } from "../../http/bodies/body-coding.ts";
import type { BodyPieces } from "../../http/bodies/body-pieces.ts";
import { namesOtherCharset } from "../../http/bodies/charset.ts";
import { NOT_UTF8 } from "../../http/bodies/json-body.ts";
import { BodyFault } from "../../http/bodies/json-scanner.ts";
import { releaseLargeBody } from "../../http/bodies/received-body.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { problem } from "../../http/problems/problem.ts";
import type { GatewayCall } from "../classify.ts";
import type { RequestHead } from "../headers/headers.ts";
import { requireNoModel } from "../query.ts";
import { isSmallBody, readBody } from "../request-body.ts";
import type { UpstreamCandidate } from "../resolve.ts";
import { GEMINI_REPEATS, TOP_LEVEL } from "./model-places.ts";
import { ModelScan, type ModelSpan, replaceModels } from "./model-scan.ts";

/** What is sent as the body: passed on as it comes, collected first as it is small, or made for each candidate. */
export type ForwardedBody = "stream" | "small" | ((candidate: UpstreamCandidate) => Buffer | BodyPieces);

/** The model that a request names, and its body, which was read, for each upstream that it may go to. */
export type RequestedModel = {
  readonly model: string | undefined;
  readonly body: ForwardedBody;
  /** The body as it came. */
  readonly text: Buffer;
};

/**
 * How much of a request's body is needed before it is forwarded (spec §4): the whole body where a model can matter, since
 * it may name one even where the path does, and where tokens are counted, else nothing.
 */
export function bodyNeed(
  head: RequestHead,
  needs: { readonly model: boolean; readonly tokens: boolean },
): "stream" | "small" | "count" | "inspect" {
  if (needs.model) return "inspect";
  if (needs.tokens) return "count";
  return isSmallBody(head.contentLength) ? "small" : "stream";
}

/** A request whose body is read. */
type ReadRequest = {
  readonly request: IncomingMessage;
  readonly call: GatewayCall;
  readonly head: RequestHead;
  /** As it came off the wire. */
  readonly query: string;
};

/**
 * Reads a body whose tokens are counted, and whose model does not matter: an upstream that takes a text for whole before
 * its body has ended would begin with what may never be charged (threats b230).
 *
 * @throws Problem 400, 413, 415, 429 or 503 for one that cannot be counted
 */
export async function readCounted(
  openCall: OpenCall | null,
  { request, call, head }: ReadRequest,
): Promise<RequestedModel> {
  requireUncompressed(head);
  const text = await readBody(request, openCall, head.contentLength);
  return { model: call.model, text, body: () => text };
}

/**
 * Reads a body that is inspected.
 *
 * @throws Problem 400, 413, 415, 429 or 503 for a request whose model cannot be known without doubt
 */
export async function readModels(openCall: OpenCall | null, inspected: ReadRequest): Promise<RequestedModel> {
  const { request, head, query } = inspected;
  requireReadable(head);
  requireNoModel(query);
  const body = await readBody(request, openCall, head.contentLength);
  try {
    if (!isUtf8(body)) throw NOT_UTF8;
    return await modelOf(body, inspected.call);
  } catch (error) {
    releaseLargeBody(body);
    throw error;
  }
}

async function modelOf(body: Buffer, call: GatewayCall): Promise<RequestedModel> {
  const spans = await modelsIn(body, call.model !== undefined);
  if (call.model === undefined) {
    return { model: spans[0]?.value, text: body, body: ({ model }) => replaced(body, spans, () => model) };
  }
  const { model: named } = call;
  if (spans.some(({ value }) => bare(value) !== named)) {
    throw problem("invalid_request", "The body names another model than the path.");
  }
  return {
    model: named,
    text: body,
    // Each keeps the form that it had: with the collection's name in front, or without.
    body: ({ model }) => replaced(body, spans, (old) => model && (old === named ? model : `models/${model}`)),
  };
}

/** A body is inspected only where every reader would take it for the same JSON text. */
function requireReadable(head: RequestHead): void {
  requireUncompressed(head);
  const { contentType } = head;
  if (contentType !== undefined && !/^application\/(?:[\w.-]+\+)?json[ \t]*(?:;|$)/i.test(contentType)) {
    throw problem("unsupported_media_type", "The body must be JSON: send it with Content-Type: application/json.");
  }
  if (namesOtherCharset(contentType)) {
    throw problem("invalid_request", "The body must be UTF-8, which is what JSON is: name no other charset.");
  }
}

function requireUncompressed({ contentEncoding }: RequestHead): void {
  if (contentEncoding === undefined || contentEncoding.trim().toLowerCase() === "identity") return;
  throw problem(
    "unsupported_media_type",
    "A compressed body cannot be read for its model or its tokens: send it uncompressed.",
    READ_CODINGS,
  );
}

async function modelsIn(body: Buffer, inPath: boolean): Promise<readonly ModelSpan[]> {
  const scan = new ModelScan(body, inPath ? GEMINI_REPEATS : TOP_LEVEL);
  try {
    await inSlices((steps) => scan.run(steps));
  } catch (error) {
    throw error instanceof BodyFault ? problem("invalid_request", error.message) : error;
  }
  return scan.models;
}

function replaced(
  body: Buffer,
  spans: readonly ModelSpan[],
  name: (old: string) => string | undefined,
): Buffer | BodyPieces {
  return spans.every(({ value }) => (name(value) ?? value) === value)
    ? body
    : replaceModels(body, spans, (old) => name(old) ?? old);
}

function bare(model: string): string {
  return model.startsWith("models/") ? model.slice("models/".length) : model;
}
