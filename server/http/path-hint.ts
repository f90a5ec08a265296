import { FIXED_PATHS } from "../../domain/access/gateway-operations.ts";

/** First segments of the gateway's paths, and names of formats that SDKs put before them. */
const FIRST_SEGMENTS = ["openai", "anthropic", "gemini", ...new Set(FIXED_PATHS.map((path) => path.split("/", 1)[0]))];

/**
 * Hints to what a path that is not served is probably meant for: by how it starts, or by an operation of an SDK in it.
 */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /^\/(?:memory|v1|api(?:\/v1)?)\/atoms(?:\/|$)/,
    "The memory's REST API is at /atoms, and under /api/v1/memory/atoms.",
  ],
  [/^\/(?:api\/)?(?:v1\/)?(?:memory\/)?(?:mcp|sse)(?:\/|$)/, "The memory's MCP endpoint is at /api/v1/memory/mcp."],
  [
    new RegExp(
      `^/(?:(?:openai/)?v1(?:beta)?|(?:api/v1/)?(?:${FIRST_SEGMENTS.join("|")}))(?:/|$)|/v1(?:beta)?/(?:${FIXED_PATHS.join("|")})(?:/|$)`,
    ),
    "The model gateway is under /g/<public id>: OpenAI's SDKs take a base URL that ends in /g/<public id>/v1, Anthropic's and Google's one that ends in /g/<public id>. keyplane get gateways lists the public ids.",
  ],
];

const ELSEWHERE = "There is nothing at this path. The page at / has the addresses of all that is served.";

/**
 * Returns the detail of a 404 for a path without a route: where the probable target is served. It depends on no caller,
 * and repeats nothing of the path, which may contain a key.
 *
 * @param path path of the request, with or without its query
 */
export function pathHint(path: string): string {
  const [bare = ""] = path.split("?", 1);
  return HINTS.find(([mark]) => mark.test(bare))?.[1] ?? ELSEWHERE;
}
