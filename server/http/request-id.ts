import { randomBytes } from "node:crypto";
import { type HeaderAddition, hasHeader } from "./answers/added-headers.ts";

/** Header of every answer: the id by which the log and the audit log know its request. */
export const REQUEST_ID_HEADER = "x-keyplane-request-id";
/** Header that clients read: an upstream's id if it sends one, under either name, else our own id. */
export const CLIENT_HEADER = "x-request-id";

/** Prefix of ids, different in each thread of each process, so that a counter makes ids that no other request has. */
const PREFIX = `req_${randomBytes(9).toString("base64url")}`;
let count = 0;
/**
 * Property of a request that holds its id. In a flood of refusals, a map of all requests would be work for the garbage
 * collector.
 */
const ID = Symbol("the request's id");

/** Returns the id of a request, always the same for the same request. */
export function requestIdOf(request: object & { [ID]?: string }): string {
  request[ID] ??= nextRequestId();
  return request[ID];
}

/** Returns an id for input that is answered without having become a request. */
export function nextRequestId(): string {
  count++;
  return `${PREFIX}${count.toString(36)}`;
}

/** Adds the request's id to the head of its answer. */
export const addRequestId: HeaderAddition = (request, given) => {
  const id = requestIdOf(request);
  const isNamed = hasHeader(given, CLIENT_HEADER) || hasHeader(given, "request-id");
  return isNamed ? [REQUEST_ID_HEADER, id] : [REQUEST_ID_HEADER, id, CLIENT_HEADER, id];
};
