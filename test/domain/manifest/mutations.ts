import fc from "fast-check";

/** Valid manifests, one of each kind. */
export const VALID = [
  {
    apiVersion: "keyplane.dev/v1alpha1",
    kind: "PlatformKey",
    metadata: { name: "docs-agent", namespace: "research-dev", labels: { a: "b" } },
    spec: {
      scopes: ["memory:read", "gateway:generate"],
      gatewayRef: { name: "main" },
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }] },
      mcpDefaultLibraryRef: { name: "handbook" },
      expiresAfter: "2160h",
      rotation: { interval: "720h", overlap: { mode: "Adoption", min: "24h", max: "72h" }, trigger: "2026-11" },
      rateLimit: { requestsPerMinute: 60 },
      secret: { name: "docs-agent-key", template: "McpConfig" },
      restartTargets: [{ kind: "Deployment", name: "docs-agent" }],
    },
  },
  {
    apiVersion: "keyplane.dev/v1alpha1",
    kind: "ModelGateway",
    metadata: { name: "main", namespace: "research-dev" },
    spec: {
      upstreams: [{ name: "u", dialect: "openai", baseURL: "https://x.example", credentialRef: { name: "s" } }],
      routes: [{ model: "m", routeID: "r", upstream: "u", upstreamModel: "x", fallbacks: [] }],
    },
  },
  {
    apiVersion: "keyplane.dev/v1alpha1",
    kind: "PlatformTeam",
    metadata: { name: "research" },
    spec: {
      namespaces: ["research-dev"],
      members: [{ role: "admin", serviceAccount: { namespace: "ci", name: "deployer" } }],
      mcpAgentPolicy: { defaultLibraryRef: { namespace: "research-dev", name: "handbook" } },
      leaks: { action: "Revoke" },
    },
  },
  {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s", namespace: "n1" },
    data: { a: "YQ==" },
    stringData: { b: "c" },
  },
];

export type Mutation = { at: number; how: "replace" | "rename" | "remove"; by: unknown; name: string };

/** The value with one place in it changed, counted from its root: another value, another name, or gone. */
export function mutate(value: unknown, { at, how, by, name }: Mutation): unknown {
  let place = 0;
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map((item) => (place++ === at ? by : visit(item)));
    if (typeof node !== "object" || node === null) return node;
    const fields = Object.entries(node).flatMap(([field, inner]): [string, unknown][] => {
      if (place++ !== at) return [[field, visit(inner)]];
      if (how === "remove") return [];
      return how === "rename" ? [[name, inner]] : [[field, by]];
    });
    return Object.fromEntries(fields);
  };
  return visit(value);
}

const anyName = fc.oneof(
  fc.string(),
  fc.constantFrom("__proto__", "constructor", "toString", "scopes", "preset", "hasOwnProperty"),
);
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
  fc.constantFrom(
    "",
    "../x",
    "a".repeat(300),
    "\u0000",
    "999999h",
    "0s",
    -1,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    [],
    {},
    [[]],
    [null],
  ),
  fc.dictionary(anyName, fc.jsonValue(), { maxKeys: 5 }),
);
/** One change that a person might make, sensible or not. */
export const mutation = fc.record({
  at: fc.nat(50),
  how: fc.constantFrom("replace" as const, "rename" as const, "remove" as const),
  by: anyValue,
  name: anyName,
});
