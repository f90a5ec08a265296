import { isUtf8 } from "node:buffer";
import type { FastifyInstance, onRequestHookHandler, preParsingHookHandler } from "fastify";
import { errorMessage } from "../../../domain/error-text.ts";
import { type Problem, problem } from "../problems/problem.ts";
import { hasBody } from "./body-framing.ts";
import { freeBytes } from "./byte-pool.ts";
import { namesOtherCharset } from "./charset.ts";
import { memberScan } from "./json-members.ts";
import { BodyFault } from "./json-scanner.ts";
import { inSlices } from "./slices.ts";

/**
 * Matches the media type of JSON as RFC 9110 writes it, with or without parameters. Refuses anything that only
 * resembles it (threats b45).
 */
const JSON_TYPE = /^application\/json[ \t]*(;.*)?$/i;

export function isJsonType(type: string | undefined): boolean {
  return type !== undefined && JSON_TYPE.test(type);
}

/** Refuses a body that is not declared as JSON, before it is read: an onRequest hook of the routes that take one. */
export const requireJsonType: onRequestHookHandler = (request, _reply, done) => {
  if (isJsonType(request.headers["content-type"])) return done();
  done(problem("unsupported_media_type", "Send the body as JSON, with the header Content-Type: application/json."));
};

/**
 * Has the routes of a plugin parse only JSON in UTF-8. Refuses any other type and any other encoding, since the parser
 * would put U+FFFD in the place of what it cannot read. An empty body counts as none, whatever its type. A body that
 * exceeds the bounds of {@link memberScan}, or has a member twice, is refused before it is parsed.
 */
export function parseJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addHook("preParsing", requireUtf8);
  // Fastify closes the connection of each body that was not parsed, since more of it may come, which is not so
  // for a whole body.
  app.addHook("onError", (request, reply, _error, done) => {
    if (request.raw.complete) reply.removeHeader("connection");
    done();
  });
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    const parseText = (): void => {
      const text = body.toString();
      freeBytes(body);
      parse(request, text, (error, parsed) => {
        if (error === null) done(null, parsed);
        else done(MALFORMED);
      });
    };
    if (!isUtf8(body)) {
      freeBytes(body);
      return done(NOT_UTF8);
    }
    const refuse = (error: unknown): void => {
      freeBytes(body);
      done(error instanceof BodyFault ? problem("invalid_request", error.message) : toError(error));
    };
    // The framework's parser skips the mark itself.
    const scan = memberScan(withoutMark(body));
    let pending: Promise<void> | undefined;
    try {
      pending = inSlices((steps) => scan.run(steps));
    } catch (error) {
      refuse(error);
      return;
    }
    if (pending === undefined) parseText();
    else pending.then(parseText, refuse);
  });
}

/** Throws the problem to answer to a body's fault; any other error as it is. */
export function refuseFault(error: unknown): never {
  throw error instanceof BodyFault ? problem("invalid_request", error.message) : error;
}

const MALFORMED = problem("invalid_request", "The body is not valid JSON.");
const OTHER_CHARSET = problem(
  "unsupported_media_type",
  "Send the body in UTF-8, which is what JSON is, and name no other charset in its Content-Type.",
);
/** Refusal of a JSON body whose bytes are not UTF-8. */
export const NOT_UTF8: Problem = problem(
  "invalid_request",
  "The body is not UTF-8, which is what JSON is: send it in UTF-8.",
);

/** Refuses a body that is declared in another charset, before it is read. */
const requireUtf8: preParsingHookHandler = ({ headers, raw }, _reply, payload, done) => {
  if (namesOtherCharset(headers["content-type"]) && hasBody(raw)) done(OTHER_CHARSET);
  else done(null, payload);
};

/** Returns a text in UTF-8 without the byte order mark that it may begin with (RFC 8259 §8.1). */
export function withoutMark(body: Buffer): Buffer {
  return MARK.equals(body.subarray(0, MARK.length)) ? body.subarray(MARK.length) : body;
}

const MARK = Buffer.from("\uFEFF");

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorMessage(error));
}
