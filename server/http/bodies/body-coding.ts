import type { FastifyInstance, preParsingHookHandler } from "fastify";
import { problem } from "../problems/problem.ts";
import { SAFE_METHODS } from "../safe-methods.ts";
import { hasBody } from "./body-framing.ts";

/** Header of a 415 for a body's coding: the coding that is read (RFC 9110 §12.5.3). */
export const READ_CODINGS = { "accept-encoding": "identity" } as const;

const CODED = problem(
  "unsupported_media_type",
  "Send the body as it is, without Content-Encoding: no coding is read here.",
  READ_CODINGS,
);
const CODED_TRANSFER = problem(
  "unsupported_media_type",
  "Send the body with a Content-Length, or with Transfer-Encoding: chunked alone: no other coding is read here.",
);

/**
 * Refuses a body in a coding before it is read, on every later route that the framework reads a body for (threats
 * b114). Runs after the checks of the key, of its limits and of the media type (spec §2.8).
 */
export function refuseCodedBodies(app: FastifyInstance): void {
  app.addHook("onRoute", (route) => {
    if ([route.method].flat().every((method) => SAFE_METHODS.has(method))) return;
    route.preParsing = [requirePlainBody, ...[route.preParsing ?? []].flat()];
  });
}

const requirePlainBody: preParsingHookHandler = ({ headers, raw }, _reply, payload, done) => {
  const { "content-encoding": content = "", "transfer-encoding": transfer = "" } = headers;
  if (!hasBody(raw)) done(null, payload);
  else if (!isAllOf(content, PLAIN)) done(CODED);
  else if (!isAllOf(transfer, READ_TRANSFER)) done(CODED_TRANSFER);
  else done(null, payload);
};

const PLAIN = /^(?:identity)?$/i;
/** Transfer codings that are read: Node's parser decodes chunks alone. */
const READ_TRANSFER = /^(?:identity|chunked)?$/i;

function isAllOf(codings: string, allowed: RegExp): boolean {
  return codings.split(",").every((coding) => allowed.test(coding.trim()));
}
