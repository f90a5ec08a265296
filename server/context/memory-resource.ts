import { baseUrl } from "./base-url.ts";

/** Path of the memory's MCP endpoint. */
export const MCP_PATH = "/api/v1/memory/mcp";

/**
 * Returns the URL of the memory's MCP endpoint, by which clients name it, and tokens for it name their audience (RFC
 * 8707).
 */
export function memoryResourceUrl(publicUrl: URL): string {
  return `${baseUrl(publicUrl)}${MCP_PATH}`;
}
