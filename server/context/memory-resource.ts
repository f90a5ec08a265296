import { baseUrl } from "./base-url.ts";

/** Where the memory's MCP endpoint is. */
export const MCP_PATH = "/api/v1/memory/mcp";

/** The memory's MCP endpoint as clients name it, and as tokens for it name their audience (RFC 8707). */
export function memoryResourceUrl(publicUrl: URL): string {
  return `${baseUrl(publicUrl)}${MCP_PATH}`;
}
