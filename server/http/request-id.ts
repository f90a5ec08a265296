import { randomBytes } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeader } from "node:http";
import type { HeaderAddition } from "./answers/added-headers.ts";

/** On every answer: by which the log and the audit log know its request. */
export const REQUEST_ID_HEADER = "x-keyplane-request-id";
/** What clients read: an upstream's where it sends one, under either name, else ours. */
export const CLIENT_HEADER = "x-request-id";
const UPSTREAM_HEADERS: readonly string[] = [CLIENT_HEADER, "request-id"];

/** Another in each thread of each process, so that a count makes an id that no other request has. */
const PREFIX = `req_${randomBytes(9).toString("base64url")}`;
let count = 0;
/** Kept on the request itself: of a flood of refusals, a map of all would be the collector's to clear. */
const ID = Symbol("the request's id");

/** The id of a request: the same each time it is asked for. */
export function requestIdOf(request: IncomingMessage & { [ID]?: string }): string {
  request[ID] ??= nextRequestId();
  return request[ID];
}

/** For what is answered without having become a request. */
export function nextRequestId(): string {
  count++;
  return `${PREFIX}${count.toString(36)}`;
}

/** Names the request in the head of its answer. */
export const addRequestId: HeaderAddition = (request, given) => {
  const id = requestIdOf(request);
  const isNamed = Array.isArray(given) ? hasUpstreamId(given) : UPSTREAM_HEADERS.some((name) => name in given);
  return isNamed ? [REQUEST_ID_HEADER, id] : [REQUEST_ID_HEADER, id, CLIENT_HEADER, id];
};

/** @param given names and values in turn */
function hasUpstreamId(given: readonly OutgoingHttpHeader[]): boolean {
  for (let i = 0; i < given.length; i += 2) {
    const name = String(given[i]);
    if ((name.length === 12 || name.length === 10) && UPSTREAM_HEADERS.includes(name.toLowerCase())) return true;
  }
  return false;
}
