/** The answer of Envoy's external authorization over gRPC: `envoy.service.auth.v3.CheckResponse`. */
import type { Granted } from "../auth/decide.ts";
import { claimsOf, type ProxyDenial } from "./answers.ts";
import type { CheckedRequest } from "./check-request.ts";
import { type Bytes, bytesField, numberField, stringField } from "./protobuf.ts";

/** Statuses of gRPC. */
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/** Beginning of the headers that say whose the key is. */
const OURS = "x-keyplane-";

/**
 * `OVERWRITE_IF_EXISTS_OR_ADD`, and the field in its place before: by neither of them is a value added beside a
 * client's own.
 */
const OVERWRITE = bytesField(2, "") + numberField(3, 2);

/** Returns the header as Envoy is to set it, also where its value is empty. */
function headerField(name: string, value: string): Bytes {
  return bytesField(2, bytesField(1, stringField(1, name) + stringField(2, value)) + OVERWRITE + numberField(4, 1));
}

function headerFields(head: readonly string[]): Bytes {
  let fields = "";
  for (let i = 0; i + 1 < head.length; i += 2) fields += headerField(head[i] ?? "", head[i + 1] ?? "");
  return fields;
}

/** Makes the answers that a request may go on. @param vendorHeader the configured carrier of a key, in lower case */
export function yesAnswers(vendorHeader: string): (granted: Granted, request: CheckedRequest) => Buffer {
  const carriers = ["authorization", "x-api-key", vendorHeader].map((name) => stringField(5, name)).join("");
  return (granted, request) => {
    const claims = claimsOf(granted, request);
    const ok = headerFields(claims) + carriers + foreignClaims(request.rawHeaders, claims);
    return framed(bytesField(3, ok) + bytesField(4, metadataOf(granted)));
  };
}

/**
 * Returns what a client claims to be beside what it is: Envoy takes it off.
 *
 * @param claims names and values in turn
 */
function foreignClaims(rawHeaders: readonly string[], claims: readonly string[]): Bytes {
  let fields = "";
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const lower = (rawHeaders[i] ?? "").toLowerCase();
    if (lower.startsWith(OURS) && !claims.some((text, at) => at % 2 === 0 && text === lower))
      fields += stringField(5, lower);
  }
  return fields;
}

/** Returns what Envoy's other filters and its access log may read: a `google.protobuf.Struct`. */
function metadataOf({ key, operation }: Granted): Bytes {
  const entry = (name: string, text: string) =>
    bytesField(1, bytesField(1, name) + bytesField(2, stringField(3, text)));
  return (
    entry("key", key.keyId) +
    entry("team", key.teamId) +
    entry("namespace", key.namespace) +
    entry("operation", operation)
  );
}

/** Returns the answer that a request is refused. */
export function noAnswer({ status, head, body }: ProxyDenial): Buffer {
  const code = numberField(1, status === 401 ? UNAUTHENTICATED : PERMISSION_DENIED);
  const denied = bytesField(1, numberField(1, status)) + headerFields(head) + stringField(3, body);
  return framed(bytesField(1, code) + bytesField(2, denied));
}

/** Bytes before a message of gRPC: whether it is compressed, and its length. */
export const PREFIX = 5;

function framed(message: Bytes): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.write(message, PREFIX, "latin1");
  return frame;
}
