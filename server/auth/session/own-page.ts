import type { FastifyRequest } from "fastify";
import { hasBody } from "../../http/bodies/body-framing.ts";
import { refusalOfForeign } from "../../http/host-check.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { SAFE_METHODS } from "../../http/safe-methods.ts";
import type { ConsoleSession } from "./authenticate-session.ts";
import { isCsrfToken } from "./secret.ts";

const NO_ORIGIN = problem(
  "forbidden_origin",
  "A change by a session needs the header Origin of this server's own pages, which a browser sends.",
);
const NO_TOKEN = problem(
  "forbidden",
  "A change by a session needs its token, as the header x-csrf-token or the form's field _csrf. This one is missing, or another session's: reload the page, and try again.",
);

/**
 * Refuses what another site's page may have sent with a session's cookie: requests for another host, and changes
 * without our own Origin and the session's token (threats b65). The token of a form is in its body, and is looked for
 * once that was read.
 *
 * @param read how far the request has been read
 * @returns undefined if the request may go on
 */
export function refusalOfForeignPage(
  { raw, body }: FastifyRequest,
  read: "head" | "body",
  { csrfToken }: ConsoleSession,
  publicUrl: URL | null,
): Problem | undefined {
  const foreign = refusalOfForeign(raw, publicUrl);
  if (foreign !== undefined || SAFE_METHODS.has(raw.method ?? "")) return foreign;
  if (raw.headers.origin === undefined && raw.headers["sec-fetch-site"] !== "same-origin") return NO_ORIGIN;
  const header = raw.headers["x-csrf-token"];
  if (header === undefined && read === "head" && hasBody(raw)) return undefined;
  return isCsrfToken(csrfToken, header ?? fieldOf(body)) ? undefined : NO_TOKEN;
}

function fieldOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "_csrf" in body ? body._csrf : undefined;
}
