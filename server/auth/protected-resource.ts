import { baseUrl } from "../context/base-url.ts";
import type { ServerConfig } from "../context/config.ts";
import { MCP_PATH, memoryResourceUrl } from "../context/memory-resource.ts";

/** Path at which a resource says which authorization servers its tokens come from (RFC 9728 §3). */
export const METADATA_ROOT = "/.well-known/oauth-protected-resource";
export const MCP_METADATA = `${METADATA_ROOT}${MCP_PATH}`;

/** The memory's MCP endpoint as a resource that tokens of an issuer open (RFC 9728). */
export type ProtectedResource = {
  /** Audience that its tokens name. */
  readonly url: string;
  readonly metadataUrl: string;
  readonly documentationUrl: string;
  readonly issuers: readonly string[];
};

/**
 * Returns the MCP endpoint as such a resource; null if no issuer is configured, or nothing says by which address
 * clients, and so tokens, name the endpoint.
 */
export function protectedResource({
  oidc,
  publicUrl,
}: Pick<ServerConfig, "oidc" | "publicUrl">): ProtectedResource | null {
  if (oidc === null || publicUrl === null) return null;
  const base = baseUrl(publicUrl);
  return {
    url: memoryResourceUrl(publicUrl),
    metadataUrl: `${base}${MCP_METADATA}`,
    documentationUrl: `${base}/docs`,
    issuers: oidc.issuers,
  };
}
