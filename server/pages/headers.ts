import type { FastifyInstance } from "fastify";
import type { ServerConfig } from "../context/config.ts";

/** Content security policy: a page loads its own files, no inline script or style, and has no frame around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
];

/**
 * Adds headers to every answer of the console against framing, type sniffing, caching, and passing on its URL (threats
 * b65). A form leads to this server, and the form to sign out on to its issuer: a browser checks each step against the
 * policy.
 */
export function protectPages(app: FastifyInstance, { consoleClients }: Pick<ServerConfig, "consoleClients">): void {
  const issuers = new Set(consoleClients.map(({ issuer }) => new URL(issuer).origin));
  const policy = [...POLICY, ["form-action 'self'", ...issuers].join(" ")].join("; ");
  app.addHook("onSend", async (_request, reply) => {
    reply.headers({
      "content-security-policy": policy,
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
    });
    // With no-referrer a browser would send its forms with `Origin: null`, as if they were another's.
    if (!reply.hasHeader("referrer-policy")) reply.header("referrer-policy", "same-origin");
    // Only the files, whose names contain the hash of their content, set another value.
    if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
  });
}
