/** Areas of operations, in the order of the document. */
const AREAS = [
  {
    name: "Memory",
    at: /^(?:\/api\/v1\/memory)?\/atoms/,
    description:
      "Statements that are remembered, in libraries, by a key with `memory:read` or `memory:write`. Each path is served at the root and under `/api/v1/memory`.",
  },
  { name: "MCP", at: /\/mcp$/, description: "The memory as tools of a model: Streamable HTTP, without sessions." },
  {
    name: "Gateway",
    at: /^\/g\//,
    description:
      "Models of providers, by a key with a `gateway:*` scope: the paths of the OpenAI, Anthropic and Gemini APIs behind the base URL `/g/{publicId}`. What is sent and answered passes byte by byte, but for the credential and the name of a logical route. Each path of Gemini's that calls a model is served under `v1` too. What the gateway refuses by itself has the form of the path's API.",
  },
  {
    name: "Keys",
    at: /^\/api\/v1\/keys/,
    description: "Keys of the caller's teams, wherever they are declared.",
  },
  { name: "Teams", at: /^\/api\/v1\/teams/, description: "Teams, with their members and namespaces." },
  { name: "Libraries", at: /^\/api\/v1\/libraries/, description: "Libraries of the memory." },
  {
    name: "Gateways",
    at: /^\/api\/v1\/gateways/,
    description: "Gateways, with their upstreams and routes. Credentials are write-only.",
  },
  { name: "More", at: /^/, description: "What is asked about a key, the console's links, and this description." },
] as const;

/** Returns the area that a path belongs to. */
export function areaOf(path: string): string {
  return AREAS.find(({ at }) => at.test(path))?.name ?? "More";
}

/** Areas as tags of the document. */
export const OPENAPI_TAGS = AREAS.map(({ name, description }) => ({ name, description }));

/** Returns the path of an area's page in the reference for people. */
export function referencePath(name: string): string {
  return `/docs/${name.toLowerCase()}`;
}
