import type { FastifyInstance, onRequestHookHandler } from "fastify";
import { problem } from "./errors.ts";

/** JSON, with or without parameters, as RFC 9110 writes a media type. Anything near it is not it (b45). */
const JSON_TYPE = /^application\/json[ \t]*(;.*)?$/i;

/** Refuses a body that is not declared as JSON, before it is read: an onRequest hook of the routes that take one. */
export const requireJsonType: onRequestHookHandler = (request, _reply, done) => {
  const type = request.headers["content-type"];
  if (type !== undefined && JSON_TYPE.test(type)) return done();
  done(problem("unsupported_media_type", "Send the body as JSON, with the header Content-Type: application/json."));
};

/** Makes JSON the only thing that the routes of a plugin parse. An empty body is none, whatever its type says. */
export function parseJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") return done(null, undefined);
    parse(request, body, (error, parsed) => {
      if (error === null) done(null, parsed);
      else done(problem("invalid_request", "The body is not valid JSON."));
    });
  });
}
