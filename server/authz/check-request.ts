/** The question of Envoy's external authorization over gRPC: `envoy.service.auth.v3.CheckRequest`. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { headerOf } from "../gateway/headers/headers.ts";
import { MalformedMessage, MessageFields } from "./protobuf.ts";

/** Name in `context_extensions` under which Envoy's configuration says what is protected. */
const EXTENSION = "keyplane";

/** Request that Envoy asks about, as its message shows it. */
export class CheckedRequest {
  method: string | undefined = undefined;
  /** Path and query. */
  url: string | undefined = undefined;
  /** Names and values in turn. Envoy joins the values of one name with commas, unless it shows raw headers. */
  readonly rawHeaders: string[] = [];
  /** Body, byte by byte. Undefined if none is shown, and if it is shown as a text, in which Envoy replaces bytes. */
  body: Buffer | undefined = undefined;
  /** Resource that Envoy's configuration protects: the path behind `/authz/envoy`. */
  protects: string | undefined = undefined;

  get headers(): IncomingHttpHeaders {
    return { "user-agent": headerOf(this.rawHeaders, "user-agent") };
  }
}

/** Question of a proxy: over HTTP with the request's headers and body as its own, or over gRPC. */
export type ProxyQuestion = IncomingMessage | CheckedRequest;

/**
 * Reads the question. The message may have any other fields; Envoy fills in many that decide nothing.
 *
 * @param message shared with the body that is returned
 * @throws MalformedMessage for what is no such message, or has a field twice that is there once
 */
export function readCheckRequest(message: Buffer): CheckedRequest {
  const request = new CheckedRequest();
  for (const root = new MessageFields(message); root.next(); ) {
    if (root.number === 1) readAttributes(request, root.message());
  }
  return request;
}

function readAttributes(request: CheckedRequest, attributes: MessageFields): void {
  while (attributes.next()) {
    if (attributes.number === 4) readRequest(request, attributes.message());
    else if (attributes.number === 10) {
      const [name, value] = readPair(attributes.message(), 2);
      if (name === EXTENSION) request.protects = once(request.protects, value);
    }
  }
}

function readRequest(request: CheckedRequest, fields: MessageFields): void {
  while (fields.next()) {
    if (fields.number === 2) readHttp(request, fields.message());
  }
}

function readHttp(request: CheckedRequest, http: MessageFields): void {
  while (http.next()) {
    switch (http.number) {
      case 2:
        request.method = once(request.method, http.text());
        break;
      case 3:
        addHeader(request, readPair(http.message(), 2));
        break;
      case 4:
        request.url = once(request.url, http.text());
        break;
      case 12:
        request.body = once(request.body, http.bytes());
        break;
      case 13:
        for (const headers = http.message(); headers.next(); ) {
          if (headers.number === 1) addHeader(request, readPair(headers.message(), 3));
        }
        break;
    }
  }
}

/** Adds a header, but for those of HTTP/2's own, which are in fields of their own. */
function addHeader({ rawHeaders }: CheckedRequest, [name, value]: readonly [string, string]): void {
  if (!name.startsWith(":")) rawHeaders.push(name, value);
}

/**
 * Reads a name and its value.
 *
 * @param valueNumber number of the value's field. A value in another place refuses, since it would be no value here
 */
function readPair(pair: MessageFields, valueNumber: number): readonly [name: string, value: string] {
  let name: string | undefined;
  let value: string | undefined;
  while (pair.next()) {
    if (pair.number === 1) name = once(name, pair.text());
    else if (pair.number === valueNumber) value = once(value, pair.text());
    else if (pair.number === 2 && pair.text() !== "") throw new MalformedMessage("a raw header has a text");
  }
  return [name ?? "", value ?? ""];
}

function once<Value>(before: Value | undefined, value: Value): Value {
  if (before !== undefined) throw new MalformedMessage("a field is there twice");
  return value;
}
