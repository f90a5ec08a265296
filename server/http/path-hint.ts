/** Where a path that is not served is probably meant to lead, by how it begins, or by an operation of an SDK that it has. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [
    /^\/(?:memory|v1|api(?:\/v1)?)\/atoms(?:\/|$)/,
    "The memory's REST API is at /atoms, and under /api/v1/memory/atoms.",
  ],
  [/^\/(?:api\/)?(?:v1\/)?(?:memory\/)?(?:mcp|sse)(?:\/|$)/, "The memory's MCP endpoint is at /api/v1/memory/mcp."],
  [
    /^\/(?:(?:openai\/)?v1(?:beta)?|(?:api\/v1\/)?(?:openai|anthropic|gemini|chat|completions|responses|embeddings|messages|models))(?:\/|$)|\/v1(?:beta)?\/(?:chat\/completions|completions|responses|embeddings|messages|models)(?:\/|$)/,
    "The model gateway is under /g/<public id>: OpenAI's SDKs take a base URL that ends in /g/<public id>/v1, Anthropic's and Google's one that ends in /g/<public id>. The status of a ModelGateway has its public id.",
  ],
];

const ELSEWHERE = "There is nothing at this path. The page at / has the addresses of all that is served.";

/**
 * The answer to a request for a path that no route has: where what it asks for is served. It says the same to all
 * callers, and nothing of the path is repeated, since a key may stand in it.
 *
 * @param path of the request, with or without its query
 */
export function pathHint(path: string): string {
  const [bare = ""] = path.split("?", 1);
  return PLACES.find(([mark]) => mark.test(bare))?.[1] ?? ELSEWHERE;
}
