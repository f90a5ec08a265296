import type { ServerResponse } from "node:http";
import { type ScopeSet, scopesIn } from "../../domain/access/scopes.ts";
import type { Granted } from "../auth/decide.ts";
import { callerDialect } from "../gateway/errors/caller-dialect.ts";
import { dialectError } from "../gateway/errors/dialect-errors.ts";
import { type Problem, problem, problemDocument } from "../http/problems/problem.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "../http/request-id.ts";
import type { AskedRequest } from "./asked-request.ts";
import type { ProxyQuestion } from "./check-request.ts";
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
export function sendYes(response: ServerResponse, granted: Granted): void {
  response.writeHead(200, [...claimsOf(granted, response.req), ...NO_STORE, ...["content-length", "0"]]);
  response.end();
}

/** Returns the headers, names and values in turn, that the service behind the proxy is sent. */
export function claimsOf({ key, operation }: Granted, question: ProxyQuestion): readonly string[] {
  return [
    ...["x-keyplane-key", key.keyId],
    ...["x-keyplane-team", key.teamId],
    ...["x-keyplane-namespace", key.namespace],
    ...["x-keyplane-scopes", scopeText(key.scopes)],
    ...["x-keyplane-operation", operation],
    ...[REQUEST_ID_HEADER, requestIdOf(question)],
  ];
}

/** Characters of a body that nginx is given in a header: its buffer for a whole head has 4 KiB at least. */
const MAX_HEADER = 2_000;

/** Answers that a request is refused: as {@link denialOf} says it. */
export function sendNo(response: ServerResponse, ...why: DenialArguments): void {
  const { status, head, body } = denialOf(response.req, ...why);
  send(response, status, head, body);
}

type DenialArguments = [
  shown: Problem,
  path: Pick<VerifierPath, "proxy" | "protects">,
  /** Undefined if the request could not be read. */
  asked: AskedRequest | undefined,
  vendorHeader: string,
];

/** Answer to a proxy whose request is refused: its head has names and values in turn. */
export type ProxyDenial = { readonly status: number; readonly head: readonly string[]; readonly body: string };

/**
 * Returns the answer to a request that is refused, in the format of its caller. nginx takes 401 and 403 alone, and no
 * body: it is given both in headers.
 */
export function denialOf(
  question: ProxyQuestion,
  ...[shown, { proxy, protects }, asked, vendorHeader]: DenialArguments
): ProxyDenial {
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
  return { status: isNginx && shown.status !== 401 ? 403 : shown.status, head: headOf(question, shown, head), body };
}

/** Returns the answer to what is no question about a request. */
export function problemDenial(question: object, shown: Problem): ProxyDenial {
  const head = headOf(question, shown, ["content-type", "application/problem+json"]);
  return { status: shown.status, head, body: problemDocument(shown, requestIdOf(question)) };
}

function headOf(question: object, shown: Problem, head: readonly string[]): readonly string[] {
  return head.concat(NO_STORE, REQUEST_ID_HEADER, requestIdOf(question), ...Object.entries(shown.headers));
}

/** Answers what is no question of a proxy: problems of the verifier's own, and introspections. */
export function sendDocument(response: ServerResponse, status: number, document: object): void {
  const body = JSON.stringify(document);
  const head = ["content-type", "application/json", "content-length", `${Buffer.byteLength(body)}`];
  response.writeHead(status, head.concat(NO_STORE, REQUEST_ID_HEADER, requestIdOf(response.req)));
  response.end(body);
}

export function sendProblemDocument(response: ServerResponse, shown: Problem): void {
  const { status, head, body } = problemDenial(response.req, shown);
  send(response, status, head, body);
}

function send(response: ServerResponse, status: number, head: readonly string[], body: string): void {
  response.writeHead(status, head.concat("content-length", String(Buffer.byteLength(body))));
  response.end(body);
}

/** Returns a document in JSON for a header: its characters are ASCII. undefined if it is too long for one. */
function headerText(json: string): string | undefined {
  const text = json.replace(/[^\x20-\x7e]/g, (other) => `\\u${other.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return text.length > MAX_HEADER ? undefined : text;
}
