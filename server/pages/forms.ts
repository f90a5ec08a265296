import { randomBytes } from "node:crypto";
import { parse } from "node:querystring";
import type { FastifyInstance } from "fastify";
import { containsKey } from "../../domain/redact.ts";
import { refuseUnstorableBodies } from "../http/bodies/body-text.ts";
import { problem } from "../http/problems/problem.ts";

/** What a form sends: a field that stands there more than once is a list. */
export type FormBody = Readonly<Record<string, string | readonly string[] | undefined>>;

/** More fields than any form of ours has. */
const MAX_FIELDS = 2_000;

/** Makes forms the only thing that a plugin's routes parse: no other page's script sends one without being asked for. */
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

/** What was written into a field, without the spaces around it; empty for one that is not there. */
export function field(body: FormBody, name: string): string {
  const value = body[name];
  return (typeof value === "string" ? value : (value?.[0] ?? "")).trim();
}

/** What was typed, to be shown again: nothing of what may hold a key. */
export function withoutKeys(text: string): string {
  return containsKey(text) ? "" : text;
}

/** What was chosen in a field of several. */
export function choices(body: FormBody, name: string): readonly string[] {
  const value = body[name];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/** By which a form is known again, however often it is sent. */
export function newSubmissionId(): string {
  return randomBytes(18).toString("base64url");
}

/** @throws Problem `invalid_request` for a form that is none of ours */
export function readSubmissionId(body: FormBody): string {
  const once = field(body, "once");
  if (/^[\w-]{24}$/.test(once)) return once;
  throw problem("invalid_request", "The form is incomplete: open its page again, and fill it in there.");
}
