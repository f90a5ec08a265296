import type { FastifyInstance } from "fastify";
import { MEMBER_SCOPES } from "../../domain/access/member-access.ts";
import { MCP_METADATA, METADATA_ROOT, protectedResource } from "../../server/auth/protected-resource.ts";
import { cachedText } from "../../server/http/answers/cached-text.ts";
import type { ServerDeps } from "../../server/product/deps.ts";

/**
 * CORS headers: pages of any origin may read the metadata, by the header that MCP clients send. It is the same for
 * every caller.
 */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET",
  "access-control-allow-headers": "mcp-protocol-version",
  "access-control-max-age": "86400",
} as const;

/**
 * Serves where tokens for the memory's MCP endpoint come from (RFC 9728), at the endpoint's well-known address and, for
 * clients that ask there first, at the root's. If no token opens the endpoint, nothing is served: no client begins a
 * sign-in that cannot end.
 */
export function metadataRoutes(app: FastifyInstance, { config }: ServerDeps): void {
  const resource = protectedResource(config);
  if (resource === null) return;
  const metadata = JSON.stringify({
    resource: resource.url,
    authorization_servers: resource.issuers,
    scopes_supported: MEMBER_SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: "Keyplane memory",
    resource_documentation: resource.documentationUrl,
  });
  app.addHook("onRequest", (_request, reply, done) => {
    reply.headers(CORS);
    done();
  });
  for (const url of [METADATA_ROOT, MCP_METADATA]) {
    app.get(
      url,
      { config: { public: true } },
      cachedText("application/json; charset=utf-8", () => metadata),
    );
    app.options(url, { config: { public: true } }, (_request, reply) => reply.code(204).send());
  }
}
