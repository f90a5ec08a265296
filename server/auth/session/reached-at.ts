import type { FastifyRequest } from "fastify";
import { baseUrl } from "../../context/base-url.ts";
import type { ServerConfig } from "../../context/config.ts";

/**
 * Returns where clients reach this server, without a trailing slash: as it is configured, or as this request has
 * reached it, in the one spelling of that name.
 */
export function reachedAt(
  { raw: { headers, socket } }: FastifyRequest,
  { publicUrl }: Pick<ServerConfig, "publicUrl">,
): string {
  if (publicUrl !== null) return baseUrl(publicUrl);
  const reached = `${"encrypted" in socket ? "https" : "http"}://${headers.host}`;
  return URL.parse(reached)?.origin ?? reached;
}
