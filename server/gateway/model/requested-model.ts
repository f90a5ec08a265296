import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { GATEWAY_OPERATIONS, type OperationRow } from "../../../domain/access/gateway-operations.ts";
import type { OpenCall } from "../../calls/calls.ts";
import { READ_CODINGS } from "../../http/bodies/body-coding.ts";
import type { BodyPieces } from "../../http/bodies/body-pieces.ts";
import { namesOtherCharset } from "../../http/bodies/charset.ts";
import { NOT_UTF8, refuseFault } from "../../http/bodies/json-body.ts";
import { releaseLargeBody } from "../../http/bodies/received-body.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { problem } from "../../http/problems/problem.ts";
import type { GatewayCall } from "../classify.ts";
import type { RequestHead } from "../headers/headers.ts";
import { requireNoModel } from "../query.ts";
import { isSmallBody, readBody } from "../request-body.ts";
import type { UpstreamCandidate } from "../resolve.ts";
import { boundaryOf, FormScan, modelPart } from "./form-scan.ts";
import { GEMINI_BATCH, GEMINI_REPEATS, IN_ITEMS, IN_REQUESTS, type ModelMembers, TOP_LEVEL } from "./model-members.ts";
import { ModelScan, type ModelSpan, replaceModels } from "./model-scan.ts";

const NOTHING = Buffer.alloc(0);

/** Body to send: passed on as it comes, collected first since it is small, none, or made for each candidate. */
export type ForwardedBody = "stream" | "small" | "none" | ((candidate: UpstreamCandidate) => Buffer | BodyPieces);

/** Model that a request names, and its body, which was read, for each upstream that it may go to. */
export type RequestedModel = {
  readonly model: string | undefined;
  readonly body: ForwardedBody;
  /** Body as it came. */
  readonly text: Buffer;
};

/**
 * Returns how much of a request's body is needed before it is forwarded (spec §4): the whole body if a model can
 * matter, since it may name one even if the path does, or if tokens are counted; else nothing.
 *
 * @param body kind of body that the operation has
 */
export function bodyNeed(
  head: RequestHead,
  body: OperationRow["body"],
  needs: { readonly model: boolean; readonly tokens: boolean },
): "stream" | "small" | "none" | "count" | "inspect" {
  if (needs.model) return "inspect";
  if (needs.tokens) return "count";
  if (body === "none") return "none";
  return isSmallBody(head.contentLength) ? "small" : "stream";
}

/** A request whose body is read. */
type ReadRequest = {
  readonly request: IncomingMessage;
  readonly call: GatewayCall;
  readonly head: RequestHead;
  /** Query as it came off the wire. */
  readonly query: string;
};

/**
 * Reads a body whose tokens are counted, and whose model does not matter. It is read whole: an upstream that takes a
 * text for whole before its body has ended would begin with what may never be charged (threats b230).
 *
 * @throws Problem 400, 413, 415, 429 or 503 for a body that cannot be counted
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
 * Reads a body, and finds the models that it names.
 *
 * @throws Problem 400, 413, 415, 429 or 503 for a request whose model cannot be known without doubt
 */
export function readModels(openCall: OpenCall | null, inspected: ReadRequest): Promise<RequestedModel> {
  return modelsIn(inspected, () => readBody(inspected.request, openCall, inspected.head.contentLength));
}

/**
 * Finds the models that a request names.
 *
 * @param read reads the body, if the operation has one; a large body is released if the models are not known
 * @throws Problem as {@link readModels} does
 */
export async function modelsIn(
  { call, head, query }: Omit<ReadRequest, "request">,
  read: () => Buffer | Promise<Buffer>,
): Promise<RequestedModel> {
  const row = GATEWAY_OPERATIONS[call.operation];
  const search =
    row.body === "none" ? undefined : row.body === "form" ? searchForm(head) : searchJson(head, call.dialect, row);
  requireNoModel(query);
  if (search === undefined) return { model: call.model, text: NOTHING, body: "none" };
  const body = await read();
  try {
    const found = search.find(body);
    return modelOf(body, call, found instanceof Promise ? await found : found, search);
  } catch (error) {
    releaseLargeBody(body);
    return refuseFault(error);
  }
}

/**
 * Refuses a conversation with a tool in its items that names a model.
 *
 * @throws Problem 400 if a tool in an item names one, or the body cannot be read; 415 for another type than JSON
 */
export async function requireNoModelInItems(head: RequestHead, body: Buffer): Promise<void> {
  requireReadable(head);
  try {
    await findModels(body, IN_ITEMS);
  } catch (error) {
    refuseFault(error);
  }
}

function modelOf(body: Buffer, call: GatewayCall, spans: readonly ModelSpan[], search: ModelSearch): RequestedModel {
  const [first] = spans;
  if (call.model === undefined && call.dialect !== "gemini") {
    if (spans.length > 1 && spans.some(({ value }) => value !== first?.value)) throw TWO_MODELS;
    return { model: first?.value, text: body, body: ({ model }) => replaced(body, spans, () => model, search) };
  }
  const named = call.model ?? (first && bare(first.value));
  if (spans.some(({ value }) => bare(value) !== named)) {
    throw problem("invalid_request", "The body names another model than the path, or two models.");
  }
  return {
    model: named,
    text: body,
    // Each keeps the form that it had: with the collection's name in front, or without.
    body: ({ model }) => replaced(body, spans, (old) => model && (old === named ? model : `models/${model}`), search),
  };
}

const TWO_MODELS = problem(
  "invalid_request",
  "The requests name several models: with this key, or at this gateway, a batch names one. Send a batch for each.",
);

/** Names of models, at once or, in a long body, once all of it is looked through. */
type FoundModels = readonly ModelSpan[] | Promise<readonly ModelSpan[]>;

/** Way to find the names of models in a kind of body, and to write them there. */
type ModelSearch = {
  /** @throws BodyFault for a body that may be read in two ways */
  readonly find: (body: Buffer) => FoundModels;
  /** Returns the text that stands for a model's name in such a position. */
  readonly write: (model: string) => string;
  /** True if a name that stays the same is written anew too. */
  readonly isAlwaysWritten: boolean;
};

function searchForm(head: RequestHead): ModelSearch {
  requireUncompressed(head);
  const boundary = boundaryOf(head.contentType);
  return { find: (body) => runScan(new FormScan(body, boundary)), write: modelPart, isAlwaysWritten: true };
}

function searchJson(head: RequestHead, dialect: GatewayCall["dialect"], row: OperationRow): ModelSearch {
  requireReadable(head);
  const ofGemini = row.isLate ? GEMINI_BATCH : GEMINI_REPEATS;
  const members = dialect === "gemini" ? ofGemini : row.models === "in the requests" ? IN_REQUESTS : TOP_LEVEL;
  return { find: (body) => findModels(body, members), write: JSON.stringify, isAlwaysWritten: false };
}

function findModels(body: Buffer, members: ModelMembers): FoundModels {
  if (!isUtf8(body)) throw NOT_UTF8;
  return runScan(new ModelScan(body, members));
}

function runScan(scan: ModelScan | FormScan): FoundModels {
  const rest = inSlices((steps) => scan.run(steps));
  return rest === undefined ? scan.models : rest.then(() => scan.models);
}

/** Refuses a body unless every reader would take it for the same JSON text. */
export function requireReadable(head: RequestHead): void {
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

function replaced(
  body: Buffer,
  spans: readonly ModelSpan[],
  name: (old: string) => string | undefined,
  { write, isAlwaysWritten }: ModelSearch,
): Buffer | BodyPieces {
  return !isAlwaysWritten && spans.every(({ value }) => (name(value) ?? value) === value)
    ? body
    : replaceModels(body, spans, (old) => name(old) ?? old, write);
}

/** Returns a model's name without the collection's in front. */
export function bare(model: string): string {
  return model.startsWith("models/") ? model.slice("models/".length) : model;
}
