import { gateway, key, manifest, team } from "./read.ts";

const upstream = (fields: string) => gateway(`{ upstreams: [{ name: u, credentialRef: { name: s }, ${fields} }] }`);
const refs = (count: number) => `[${Array.from({ length: count }, (_, i) => `{ name: l${i} }`)}]`;

/** A mistake, the manifest as it should be, the one with the mistake, and what is then said. */
export const MISTAKE_CASES: readonly [mistake: string, accepted: string, refused: string, says: string][] = [
  [
    "misspelt field",
    key("{ preset: MCPReadOnly }"),
    key("{ preset: MCPReadOnly, dispayName: x }"),
    "spec.dispayName: unknown field: did you mean displayName?",
  ],
  [
    "field of another object",
    team("{}"),
    team("{ preset: MCPReadOnly }"),
    "spec.preset: unknown field: write one of displayName, namespaces",
  ],
  [
    "misspelt scope",
    key("{ scopes: [memory:read] }"),
    key("{ scopes: [memory:reed] }"),
    'spec.scopes[0]: unknown value "memory:reed": did you mean memory:read?',
  ],
  [
    "scope in another case",
    key("{ scopes: [memory:write] }"),
    key("{ scopes: [Memory:Write] }"),
    "did you mean memory:write?",
  ],
  [
    "misspelt preset",
    key("{ preset: MCPReadOnly }"),
    key("{ preset: MCPReadonly }"),
    'spec.preset: unknown value "MCPReadonly": did you mean MCPReadOnly?',
  ],
  [
    "unknown template",
    key("{ preset: MCPReadOnly, secret: { template: ServiceBinding } }"),
    key("{ preset: MCPReadOnly, secret: { template: Dotenv } }"),
    "write one of Env, McpConfig, ServiceBinding",
  ],
  [
    "number for text",
    key("{ preset: MCPReadOnly, displayName: '5' }"),
    key("{ preset: MCPReadOnly, displayName: 5 }"),
    'spec.displayName: must be text: write it in quotes, "5"',
  ],
  [
    "text for a list",
    key("{ scopes: [memory:read] }"),
    key("{ scopes: memory:read }"),
    'spec.scopes: must be a list: write ["memory:read"]',
  ],
  [
    "text for a boolean",
    key("{ preset: MCPReadOnly, deletionProtection: true }"),
    key("{ preset: MCPReadOnly, deletionProtection: 'true' }"),
    "spec.deletionProtection: must be true or false",
  ],
  [
    "nothing behind a field",
    key("{ preset: MCPReadOnly }"),
    key("{ preset: }"),
    "spec.preset: is empty: write text, or leave the field out",
  ],
  [
    "missing field",
    key("{ preset: MCPReadOnly, restartTargets: [{ kind: Deployment, name: w }] }"),
    key("{ preset: MCPReadOnly, restartTargets: [{ kind: Deployment }] }"),
    "spec.restartTargets[0].name: is missing",
  ],
  [
    "a duration in days",
    key("{ preset: MCPReadOnly, expiresAfter: 1h30m }"),
    key("{ preset: MCPReadOnly, expiresAfter: 90d }"),
    'spec.expiresAfter: "90d" is no duration: write hours, minutes and seconds, such as 720h',
  ],
  [
    "a date without a time",
    key("{ preset: MCPReadOnly, expiresAt: 2027-01-31T00:00:00+02:00 }"),
    key("{ preset: MCPReadOnly, expiresAt: 2027-01-31T00:00 }"),
    "is no time: write it as RFC 3339 has it",
  ],
  [
    "a day that does not exist",
    key("{ preset: MCPReadOnly, expiresAt: 2028-02-29T00:00:00Z }"),
    key("{ preset: MCPReadOnly, expiresAt: 2027-02-29T00:00:00Z }"),
    "spec.expiresAt",
  ],
  [
    "no request at all",
    key("{ preset: MCPReadOnly, rateLimit: { requestsPerMinute: 1 } }"),
    key("{ preset: MCPReadOnly, rateLimit: { requestsPerMinute: 0 } }"),
    "spec.rateLimit.requestsPerMinute: must be at least 1",
  ],
  [
    "a data key that climbs",
    key("{ preset: MCPReadOnly, secret: { dataKey: .env } }"),
    key("{ preset: MCPReadOnly, secret: { dataKey: ..env } }"),
    'spec.secret.dataKey: "..env" is no data key of a Secret',
  ],
  [
    "libraries beyond the limit",
    key(`{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: ${refs(64)} } }`),
    key(`{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: ${refs(65)} } }`),
    "libraryRefs: has more than 64 entries",
  ],
  [
    "a route twice",
    gateway(
      "{ upstreams: [{ name: u, dialect: openai, baseURL: 'https://x', credentialRef: { name: s } }], routes: [{ model: m, routeID: r, upstream: u, upstreamModel: x }, { model: m2, routeID: r, upstream: u, upstreamModel: x }] }",
    ),
    gateway(
      "{ upstreams: [{ name: u, dialect: openai, baseURL: 'https://x', credentialRef: { name: s } }], routes: [{ model: m, routeID: r, upstream: u, upstreamModel: x }, { model: m, routeID: q, upstream: u, upstreamModel: x }] }",
    ),
    "spec.routes[1]: is in the list twice, by its model",
  ],
  [
    "no upstream",
    upstream("dialect: openai, baseURL: 'http://127.0.0.1:1/prefix'"),
    gateway("{ upstreams: [] }"),
    "spec.upstreams: is empty: write at least one entry",
  ],
  [
    "an upstream that is not http",
    upstream("dialect: gemini, baseURL: 'https://x.example'"),
    upstream("dialect: gemini, baseURL: 'file:///etc/passwd'"),
    'baseURL: "file:///etc/passwd" is no base URL',
  ],
  [
    "a credential in a URL",
    upstream("dialect: gemini, baseURL: 'https://x.example/a@b'"),
    upstream("dialect: gemini, baseURL: 'https://user:pw@x.example'"),
    "without credentials",
  ],
  [
    "a query in a URL",
    upstream("dialect: gemini, baseURL: 'https://[::1]:8080/v1'"),
    upstream("dialect: gemini, baseURL: 'https://x.example/?key=1'"),
    "is no base URL",
  ],
  [
    "unknown kind",
    team("{}"),
    manifest("PlatformTeem", "{}", { name: "a" }),
    'kind: unknown kind "PlatformTeem": did you mean PlatformTeam?',
  ],
  [
    "a kind that is not ours",
    team("{}"),
    manifest("Deployment", "{}"),
    "only PlatformKey, PlatformTeam, ModelGateway, MemoryLibrary, Secret are read here",
  ],
  [
    "another version",
    team("{}"),
    team("{}").replace("v1alpha1", "v1alpha2"),
    'apiVersion: unknown apiVersion "keyplane.dev/v1alpha2" of PlatformTeam: write keyplane.dev/v1alpha1',
  ],
  [
    "no version",
    team("{}"),
    team("{}").replace(/^.*\n/, ""),
    "apiVersion: missing apiVersion: write apiVersion: keyplane.dev/v1alpha1",
  ],
  ["no kind", team("{}"), "apiVersion: keyplane.dev/v1alpha1\n", "kind: say what this is"],
  [
    "no metadata",
    team("{}"),
    "apiVersion: keyplane.dev/v1alpha1\nkind: PlatformTeam\nspec: {}\n",
    "metadata: missing metadata",
  ],
  ["no spec", team("{}"), team("{}").replace(/spec.*/, ""), "spec: is missing"],
  ["no name", team("{}"), manifest("PlatformTeam", "{}", {}), "metadata.name: missing name"],
  [
    "no namespace",
    manifest("MemoryLibrary", "{}"),
    manifest("MemoryLibrary", "{}", { name: "a" }),
    "metadata.namespace: missing namespace: write metadata.namespace",
  ],
  [
    "a team in a namespace",
    team("{}"),
    manifest("PlatformTeam", "{}"),
    "metadata.namespace: a PlatformTeam belongs to the whole cluster: remove namespace",
  ],
  [
    "a number for a name",
    manifest("MemoryLibrary", "{}", { name: "1", namespace: "2" }),
    manifest("MemoryLibrary", "{}", { name: 1, namespace: "2" }),
    "metadata.name: must be text",
  ],
  [
    "a name beyond a label's length",
    team("{}"),
    manifest("PlatformTeam", "{}", { name: "a".repeat(64) }),
    "metadata.name: is longer than 63 characters",
  ],
  [
    "misspelt metadata",
    manifest("PlatformTeam", "{}", { name: "a", labels: { a: "b" } }),
    manifest("PlatformTeam", "{}", { name: "a", lables: {} }),
    "metadata.lables: unknown field: did you mean labels?",
  ],
  [
    "a number for an annotation",
    manifest("PlatformTeam", "{}", { name: "a", annotations: { a: "1" } }),
    manifest("PlatformTeam", "{}", { name: "a", annotations: { a: 1 } }),
    "metadata.annotations.a: must be text",
  ],
  [
    "a label's value with a space",
    manifest("PlatformTeam", "{}", { name: "a", labels: { a: "", "example.com/b": "B.c_d-1" } }),
    manifest("PlatformTeam", "{}", { name: "a", labels: { a: "b c" } }),
    'metadata.labels.a: "b c" is no label\'s value',
  ],
  [
    "an annotation's name with two slashes",
    manifest("PlatformTeam", "{}", { name: "a", annotations: { "example.com/a": "b c" } }),
    manifest("PlatformTeam", "{}", { name: "a", annotations: { "example.com/a/b": "c" } }),
    "metadata.annotations.example.com/a/b: is no name of one",
  ],
  [
    "annotations beyond 256 KiB",
    manifest("PlatformTeam", "{}", { name: "a", annotations: { a: "x".repeat(250_000) } }),
    manifest("PlatformTeam", "{}", { name: "a", annotations: { a: "x".repeat(150_000), b: "x".repeat(150_000) } }),
    "metadata.annotations: are larger than 256 KiB together",
  ],
  ["a field beside spec", team("{}"), `${team("{}")}specs: {}\n`, "specs: unknown field: did you mean spec?"],
  [
    "text instead of a manifest",
    team("{}"),
    "just text\n",
    "this is no manifest: write apiVersion, kind, metadata and spec",
  ],
];
