import type { IncomingMessage, ServerResponse } from "node:http";
import { type ScopeSet, scopesIn } from "../../domain/access/scopes.ts";
import type { Granted } from "../auth/decide.ts";
import { callerDialect } from "../gateway/errors/caller-dialect.ts";
import { dialectError } from "../gateway/errors/dialect-errors.ts";
import { type Problem, problem, problemDocument } from "../http/problems/problem.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "../http/request-id.ts";
import type { AskedRequest } from "./asked-request.ts";
import type { VerifierPath } from "./verifier-path.ts";

/** Texts of the scopes by their set. */
const scopeTexts = new Map<ScopeSet, string>();

function scopeText(set: ScopeSet): string {
  const text = scopeTexts.get(set) ?? scopesIn(set).join(" ");
  scopeTexts.set(set, text);
  return text;
}

/** A decision is of its moment: a proxy that kept one would not hear of a revocation. */
const NO_STORE = ["cache-control", "no-store"];

/** Answers that a request may go on. Every header is in each such answer, so that none of a client's own stays. */
export function sendYes(response: ServerResponse, { key, operation }: Granted): void {
  response.writeHead(200, [
    ...["x-keyplane-key", key.keyId],
    ...["x-keyplane-team", key.teamId],
    ...["x-keyplane-namespace", key.namespace],
    ...["x-keyplane-scopes", scopeText(key.scopes)],
    ...["x-keyplane-operation", operation],
    ...[REQUEST_ID_HEADER, requestIdOf(response.req)],
    ...NO_STORE,
    ...["content-length", "0"],
  ]);
  response.end();
}

/** Characters of a body that nginx is given in a header: its buffer for a whole head has 4 KiB at least. */
const MAX_HEADER = 2_000;

/**
 * Answers that a request is refused, in the format of its caller. nginx takes 401 and 403 alone, and no body: it is
 * given both in headers.
 *
 * @param asked undefined if the request could not be read
 */
export function sendNo(
  question: IncomingMessage,
  response: ServerResponse,
  shown: Problem,
  { proxy, protects }: VerifierPath,
  asked: AskedRequest | undefined,
  vendorHeader: string,
): void {
  const isGateway = "publicId" in protects;
  const bodyOf = (of: Problem): string => {
    if (!isGateway) return problemDocument(of, requestIdOf(question));
    const rawPath = asked?.path.slice(1);
    return dialectError(callerDialect(asked?.method ?? "", rawPath, question.rawHeaders, "", vendorHeader), of);
  };
  const body = bodyOf(shown);
  const type = isGateway ? "application/json; charset=utf-8" : "application/problem+json";
  const isNginx = proxy === "nginx";
  const head = [...["content-type", type], ...["x-keyplane-status", String(shown.status)]];
  if (isNginx) head.push("x-keyplane-error", headerText(body) ?? headerText(bodyOf(problem(shown.code))) ?? "{}");
  send(response, isNginx && shown.status !== 401 ? 403 : shown.status, shown, head, body);
}

/** Answers what is no question of a proxy: problems of the verifier's own, and introspections. */
export function sendDocument(response: ServerResponse, status: number, document: object): void {
  const body = JSON.stringify(document);
  const head = ["content-type", "application/json", "content-length", `${Buffer.byteLength(body)}`];
  response.writeHead(status, head.concat(NO_STORE, REQUEST_ID_HEADER, requestIdOf(response.req)));
  response.end(body);
}

export function sendProblemDocument(response: ServerResponse, shown: Problem): void {
  const body = problemDocument(shown, requestIdOf(response.req));
  send(response, shown.status, shown, ["content-type", "application/problem+json"], body);
}

function send(response: ServerResponse, status: number, shown: Problem, head: readonly string[], body: string): void {
  const length = ["content-length", String(Buffer.byteLength(body)), REQUEST_ID_HEADER, requestIdOf(response.req)];
  response.writeHead(status, head.concat(NO_STORE, length, ...Object.entries(shown.headers)));
  response.end(body);
}

/** Returns a document in JSON for a header: its characters are ASCII. undefined if it is too long for one. */
function headerText(json: string): string | undefined {
  const text = json.replace(/[^\x20-\x7e]/g, (other) => `\\u${other.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return text.length > MAX_HEADER ? undefined : text;
}
