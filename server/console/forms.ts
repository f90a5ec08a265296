import { parse } from "node:querystring";
import type { FastifyInstance } from "fastify";
import { refuseOddBodies } from "../management/body-text.ts";

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
  app.addHook("preValidation", refuseOddBodies);
}

/** What was written into a field, without the spaces around it; empty for one that is not there. */
export function field(body: FormBody, name: string): string {
  const value = body[name];
  return (typeof value === "string" ? value : (value?.[0] ?? "")).trim();
}

/** What was chosen in a field of several. */
export function choices(body: FormBody, name: string): readonly string[] {
  const value = body[name];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}
