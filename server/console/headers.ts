import type { FastifyInstance } from "fastify";

/** What a page may load and do: its own files, no inline script or style, no frame around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** Puts on every answer of the console what keeps it from being framed, guessed at, kept or told of (threats b65). */
export function protectPages(app: FastifyInstance): void {
  app.addHook("onSend", async (_request, reply) => {
    reply.headers({
      "content-security-policy": POLICY,
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
    });
    // Only the files under their content's hash say otherwise.
    if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
  });
}
