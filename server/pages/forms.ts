import { randomBytes } from "node:crypto";
import { parse } from "node:querystring";
import type { FastifyInstance } from "fastify";
import { containsKey } from "../../domain/redact.ts";
import { refuseUnstorableBodies } from "../http/bodies/body-text.ts";
import { problem } from "../http/problems/problem.ts";

/** Fields of a sent form. A field that occurs more than once is a list. */
export type FormBody = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Maximum number of fields: more than any form of the console has. */
const MAX_FIELDS = 2_000;

/** Has a plugin's routes parse only forms. */
export function parseForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, text, done) => {
      done(null, parse(text, "&", "=", { maxKeys: MAX_FIELDS }));
    },
  );
  app.addHook("preValidation", (request, _reply, done) => {
    // What comes without a body is an empty form.
    request.body ??= {};
    done();
  });
  app.addHook("preValidation", refuseUnstorableBodies);
}

/** Reads a field without the spaces around its text; empty if it is missing. */
export function field(body: FormBody, name: string): string {
  const value = body[name];
  return (typeof value === "string" ? value : (value?.[0] ?? "")).trim();
}

/** Returns typed text that is shown again; empty if it may contain a key. */
export function withoutKeys(text: string): string {
  return containsKey(text) ? "" : text;
}

/** Reads the values of a field with several choices. */
export function choices(body: FormBody, name: string): readonly string[] {
  const value = body[name];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/** Returns the id of a submission, which recognises a form that is sent again. */
export function newSubmissionId(): string {
  return randomBytes(18).toString("base64url");
}

/** Reads the id of a submission. @throws Problem `invalid_request` for a form that has none */
export function readSubmissionId(body: FormBody): string {
  const once = field(body, "once");
  if (/^[\w-]{24}$/.test(once)) return once;
  throw problem("invalid_request", "The form is incomplete: open its page again, and fill it in there.");
}
