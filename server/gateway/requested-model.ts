import type { IncomingMessage } from "node:http";
import type { GatewayRecord } from "../../domain/key-record.ts";
import type { GatewayOperation } from "../../domain/operations.ts";
import { problem } from "../errors.ts";
import { BodyFault } from "../http/json-scanner.ts";
import { inSlices } from "../http/slices.ts";
import type { GatewayCall } from "./classify.ts";
import type { RequestHead } from "./headers.ts";
import { GEMINI_REPEATS, TOP_LEVEL } from "./model-places.ts";
import { ModelScan, type ModelSpan, replaceModels } from "./model-scan.ts";
import { isSmallBody, readBody } from "./request-body.ts";
import { type Candidate, needsModel } from "./resolve.ts";

/** What is sent as the body: passed on as it comes, collected first as it is small, or made for each candidate. */
export type ForwardedBody = "stream" | "small" | ((candidate: Candidate) => Buffer);

/** The model that a request names, and its body for each upstream that it may go to. */
export type RequestedModel = { readonly model: string | undefined; readonly body: ForwardedBody };

/** Gemini's operations whose bodies repeat the model of their path; a repetition that differs would be another model. */
const REPEATING: ReadonlySet<GatewayOperation> = new Set<GatewayOperation>([
  "gateway.embed_content",
  "gateway.batch_embed_contents",
  "gateway.count_tokens",
]);

/**
 * How much of a request's body its model needs (spec §4): nothing where no model can matter, else the body, where that
 * names the model or may have to be sent twice.
 */
export function bodyNeed(
  call: GatewayCall,
  head: RequestHead,
  gateway: GatewayRecord,
  allowedModels: readonly string[] | null,
): "stream" | "small" | "repeat" | "inspect" {
  if (needsModel(gateway, allowedModels) && (call.model === undefined || REPEATING.has(call.operation))) {
    return "inspect";
  }
  if (gateway.routes.some(({ model, fallbacks }) => model === call.model && fallbacks.length > 0)) return "repeat";
  return isSmallBody(head.contentLength) ? "small" : "stream";
}

/**
 * Reads a body that is inspected, or may have to be sent again.
 *
 * @throws Problem 400, 413 or 415 for a body whose model cannot be known without doubt
 */
export async function readModels(
  request: IncomingMessage,
  call: GatewayCall,
  head: RequestHead,
  need: "repeat" | "inspect",
): Promise<RequestedModel> {
  if (need === "inspect") requireReadable(head);
  const body = await readBody(request, head.contentLength);
  if (need === "repeat") return { model: call.model, body: () => body };
  const spans = await modelsIn(body, call.model !== undefined);
  if (call.model === undefined) {
    return { model: spans[0]?.value, body: ({ model }) => replaced(body, spans, () => model) };
  }
  const { model: named } = call;
  if (spans.some(({ value }) => bare(value) !== named)) {
    throw problem("invalid_request", "The body names another model than the path.");
  }
  return {
    model: named,
    // Each keeps the form that it had: with the collection's name in front, or without.
    body: ({ model }) => replaced(body, spans, (old) => model && (old === named ? model : `models/${model}`)),
  };
}

/** A body is inspected only where every reader would take it for the same JSON text. */
function requireReadable({ contentType, contentEncoding }: RequestHead): void {
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== "identity") {
    throw problem("unsupported_media_type", "A compressed body cannot be read for its model: send it uncompressed.");
  }
  if (contentType !== undefined && !/^application\/(?:[\w.-]+\+)?json[ \t]*(?:;|$)/i.test(contentType)) {
    throw problem("unsupported_media_type", "The body must be JSON: send it with Content-Type: application/json.");
  }
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

function replaced(body: Buffer, spans: readonly ModelSpan[], name: (old: string) => string | undefined): Buffer {
  return spans.every(({ value }) => (name(value) ?? value) === value)
    ? body
    : replaceModels(body, spans, (old) => name(old) ?? old);
}

function bare(model: string): string {
  return model.startsWith("models/") ? model.slice("models/".length) : model;
}
