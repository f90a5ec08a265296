import { gateway, key, manifest, team } from "../read.ts";
import { POLICY_RULE_CASES } from "./policy-rule-cases.ts";

/** Each rule of the schemas: what it lets through, what it refuses, and what it then says. */
export type RuleCase = { rule: string; accepts: string[]; refuses: string[]; says: string; old?: string };

const upstream = (name: string, dialect = "openai") =>
  `{ name: ${name}, dialect: ${dialect}, baseURL: "https://api.example.com", credentialRef: { name: s } }`;
const webhook = (namespace: string) =>
  `{ url: "https://hooks.example.com/keys", events: [key.revoked], secretRef: { namespace: ${namespace}, name: s } }`;
const library = (spec: string) => manifest("MemoryLibrary", spec);
/** What a display name may not hold, as YAML's text in double quotes has it. */
const DIRECTION_MARKS = [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069].map(
  (mark) => `\\u${mark.toString(16)}`,
);
const route = (rest: string) => `[{ model: m, routeID: r, upstreamModel: x, ${rest} }]`;

/** A gateway with two upstreams, and a route with these weights. */
const weighted = (weight: string, ofFallback: string) =>
  gateway(
    `{ upstreams: [${upstream("u")}, ${upstream("v")}], routes: ${route(`upstream: u, ${weight} fallbacks: [{ upstream: v, upstreamModel: x, ${ofFallback} }]`)} }`,
  );
const weightCases: readonly RuleCase[] = [
  {
    rule: "the weight of a fallback needs one of its route",
    accepts: [weighted("weight: 3,", "weight: 1"), weighted("weight: 0,", "weight: 1000000"), weighted("", "")],
    refuses: [weighted("", "weight: 1"), weighted("", "weight: 0")],
    says: "spec.routes[0].fallbacks: a fallback's weight needs one of its route: write",
  },
  {
    rule: "the weight of a route needs one of a fallback",
    accepts: [weighted("weight: 3,", "weight: 0")],
    refuses: [
      weighted("weight: 3,", ""),
      weighted("weight: 0,", ""),
      gateway(`{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, weight: 1")} }`),
    ],
    says: "spec.routes[0].weight: weight needs a fallback's: write",
  },
  {
    rule: "some upstream takes first calls",
    accepts: [weighted("weight: 0,", "weight: 1")],
    refuses: [weighted("weight: 0,", "weight: 0")],
    says: "spec.routes[0].weight: all weights are 0: write",
  },
  {
    rule: "sticky needs weights",
    accepts: [weighted("sticky: Key, weight: 1,", "weight: 1")],
    refuses: [weighted("sticky: Key,", "")],
    says: "spec.routes[0].sticky: sticky needs weights: write",
  },
];

export const RULE_CASES: readonly RuleCase[] = [
  {
    rule: "the cluster's own namespaces are no team's",
    accepts: [team("{ namespaces: [kube-systems, a-kube-public, kube] }")],
    refuses: ["kube-system", "kube-public", "kube-node-lease"].map((own) => team(`{ namespaces: [${own}] }`)),
    says: "spec.namespaces[0]: is one of kube-system, kube-public and kube-node-lease",
  },
  {
    rule: "a key says what it may do",
    accepts: [key("{ preset: MCPReadOnly }"), key("{ scopes: [gateway:embed] }")],
    refuses: [key("{}"), key("{ displayName: x }")],
    says: "spec: say what the key may do",
  },
  {
    rule: "preset and scopes exclude each other",
    accepts: [key("{ preset: GatewayDefault }")],
    refuses: [key("{ preset: MCPReadOnly, scopes: [memory:read] }")],
    says: "spec.preset: preset and scopes exclude each other",
  },
  {
    rule: "library access needs a memory scope",
    accepts: [
      key("{ scopes: [memory:write], libraryAccess: { mode: All } }"),
      key("{ preset: GatewayDefault, libraryAccess: {} }"),
    ],
    refuses: [key("{ scopes: [gateway:generate], libraryAccess: { mode: All } }")],
    says: "spec.libraryAccess: libraryAccess needs a memory scope: add memory:read or memory:write",
  },
  {
    rule: "an MCP default library needs a memory scope",
    accepts: [key("{ scopes: [memory:read], mcpDefaultLibraryRef: { name: l } }")],
    refuses: [key("{ scopes: [gateway:generate], mcpDefaultLibraryRef: { name: l } }")],
    says: "spec.mcpDefaultLibraryRef: mcpDefaultLibraryRef needs a memory scope",
  },
  {
    rule: "the MCP default library is within a restricted list",
    accepts: [
      key(
        "{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: l }, { name: m }] }, mcpDefaultLibraryRef: { name: m } }",
      ),
      key(
        "{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: l, namespace: o }] }, mcpDefaultLibraryRef: { name: l, namespace: o } }",
      ),
      key("{ preset: MCPReadOnly, libraryAccess: { mode: All }, mcpDefaultLibraryRef: { name: m } }"),
    ],
    refuses: [
      key(
        "{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: l }] }, mcpDefaultLibraryRef: { name: m } }",
      ),
      key(
        "{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: l, namespace: o }] }, mcpDefaultLibraryRef: { name: l } }",
      ),
    ],
    says: "spec.mcpDefaultLibraryRef: mcpDefaultLibraryRef must be one of libraryAccess.libraryRefs",
  },
  {
    rule: "restricted access has a list",
    accepts: [key("{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: l }] } }")],
    refuses: [key("{ preset: MCPReadOnly, libraryAccess: { mode: Restricted } }")],
    says: "spec.libraryAccess: mode: Restricted needs the list: write libraryRefs",
  },
  {
    rule: "a list of libraries is never ignored",
    accepts: [key("{ preset: MCPReadOnly, libraryAccess: { mode: All } }")],
    refuses: [
      key("{ preset: MCPReadOnly, libraryAccess: { mode: All, libraryRefs: [{ name: l }] } }"),
      key("{ preset: MCPReadOnly, libraryAccess: { libraryRefs: [{ name: l }] } }"),
    ],
    says: "spec.libraryAccess.libraryRefs: libraryRefs has no effect with mode: All: write mode: Restricted",
  },
  {
    rule: "a subject needs a memory scope",
    accepts: [
      key("{ preset: MCPReadOnly, subjectAccess: { mode: Required } }"),
      key("{ scopes: ['memory:write'], subjectAccess: { mode: Bound, subject: user-4711 } }"),
    ],
    refuses: [key("{ scopes: ['gateway:generate'], subjectAccess: { mode: Required } }")],
    says: "spec.subjectAccess: subjectAccess needs a memory scope: add memory:read or memory:write",
  },
  {
    rule: "a key is bound to a subject that it names",
    accepts: [key("{ preset: MCPReadOnly, subjectAccess: { mode: Bound, subject: user-4711 } }")],
    refuses: [key("{ preset: MCPReadOnly, subjectAccess: { mode: Bound } }")],
    says: "spec.subjectAccess: mode: Bound needs the subject: write subject: user-4711",
  },
  {
    rule: "a subject is never ignored",
    accepts: [key("{ preset: MCPReadOnly, subjectAccess: { mode: Required } }")],
    refuses: [key("{ preset: MCPReadOnly, subjectAccess: { mode: Required, subject: user-4711 } }")],
    says: "spec.subjectAccess.subject: subject has no effect with mode: Required",
  },
  {
    rule: "a file for one memory client is of no key that each call names a subject with",
    accepts: [
      key(
        "{ preset: MCPReadOnly, subjectAccess: { mode: Bound, subject: user-4711 }, secret: { template: McpConfig } }",
      ),
      key("{ preset: MCPReadOnly, subjectAccess: { mode: Required }, secret: { template: Env } }"),
    ],
    refuses: [key("{ preset: MCPReadOnly, subjectAccess: { mode: Required }, secret: { template: McpConfig } }")],
    says: "spec.secret.template: McpConfig cannot name the subject of each call, so that no client could connect: write subjectAccess.mode: Bound, or remove template and have the application send X-Keyplane-Subject",
  },
  {
    rule: "a library is named once",
    accepts: [
      key(
        "{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: l }, { name: l, namespace: o }] } }",
      ),
    ],
    refuses: [
      key(
        "{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: l, namespace: o }, { namespace: o, name: l }] } }",
      ),
    ],
    says: "spec.libraryAccess.libraryRefs: a library is in the list twice: remove one of the two",
  },
  {
    rule: "a key ends in one way",
    accepts: [
      key("{ preset: MCPReadOnly, expiresAfter: 2160h }"),
      key("{ preset: MCPReadOnly, expiresAt: 2027-01-31T00:00:00Z }"),
    ],
    refuses: [key("{ preset: MCPReadOnly, expiresAfter: 2160h, expiresAt: 2027-01-31T00:00:00Z }")],
    says: "spec.expiresAfter: expiresAfter and expiresAt exclude each other",
  },
  {
    rule: "a rate limit limits something",
    accepts: [
      key("{ preset: MCPReadOnly, rateLimit: { concurrent: 4 } }"),
      key("{ preset: MCPReadOnly, rateLimit: { tokensPerMinute: 9000 } }"),
      team("{ rateLimit: { concurrent: 4 } }"),
      gateway(`{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, rateLimit: { concurrent: 4 }")} }`),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, rateLimit: {} }"),
      team("{ rateLimit: {} }"),
      gateway(`{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, rateLimit: {}")} }`),
    ],
    says: "rateLimit: rateLimit limits nothing",
  },
  {
    rule: "a route's timeouts bound something",
    accepts: [
      gateway(
        `{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, timeouts: { firstByteSeconds: 600 }")} }`,
      ),
      gateway(`{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, timeouts: { idleSeconds: 1 }")} }`),
    ],
    refuses: [gateway(`{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, timeouts: {}")} }`)],
    says: "timeouts: timeouts bounds nothing",
  },
  ...weightCases,
  {
    rule: "a burst belongs to a rate",
    accepts: [
      key("{ preset: MCPReadOnly, rateLimit: { requestsPerMinute: 60, burst: 2, concurrent: 4 } }"),
      team("{ rateLimit: { requestsPerMinute: 60, burst: 2 } }"),
      gateway(
        `{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, rateLimit: { requestsPerMinute: 60, burst: 2 }")} }`,
      ),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, rateLimit: { concurrent: 4, burst: 2 } }"),
      team("{ rateLimit: { concurrent: 4, burst: 2 } }"),
      gateway(
        `{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, rateLimit: { concurrent: 4, burst: 2 }")} }`,
      ),
    ],
    says: "rateLimit: burst belongs to a rate",
  },
  {
    rule: "a budget of each period",
    accepts: [
      key("{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day }, { tokens: 9, period: Month }] }"),
      team("{ budgets: [{ tokens: 9, period: Total }] }"),
      key("{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day }, { cost: '9', currency: USD, period: Day }] }"),
    ],
    refuses: [
      key(
        "{ preset: MCPReadOnly, budgets: [{ cost: '9', currency: EUR, period: Day }, { cost: '9', currency: USD, period: Day }] }",
      ),
      key("{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day }, { tokens: 8, period: Day }] }"),
      team("{ budgets: [{ tokens: 9, period: Total }, { tokens: 9, period: Total, onExhausted: Alert }] }"),
    ],
    says: "budgets has two of one period",
  },
  {
    rule: "a budget is of tokens or of cost",
    accepts: [
      key("{ preset: MCPReadOnly, budgets: [{ cost: '250.00', currency: USD, period: Month }] }"),
      team("{ budgets: [{ cost: '0.000001', currency: EUR, period: Total }] }"),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, budgets: [{ period: Day }] }"),
      team("{ budgets: [{ tokens: 9, cost: '9', currency: USD, period: Day }] }"),
    ],
    says: "a budget is of tokens or of cost",
  },
  {
    rule: "a budget of cost names its currency",
    accepts: [key("{ preset: MCPReadOnly, budgets: [{ cost: '9', currency: USD, period: Day }] }")],
    refuses: [
      key("{ preset: MCPReadOnly, budgets: [{ cost: '9', period: Day }] }"),
      team("{ budgets: [{ tokens: 9, currency: USD, period: Day }] }"),
    ],
    says: "cost and currency belong together",
  },
  {
    rule: "a budget of cost has some",
    accepts: [key("{ preset: MCPReadOnly, budgets: [{ cost: '0.01', currency: USD, period: Day }] }")],
    refuses: [
      key("{ preset: MCPReadOnly, budgets: [{ cost: '0', currency: USD, period: Day }] }"),
      team("{ budgets: [{ cost: '0.00', currency: USD, period: Day }] }"),
    ],
    says: "cost must be more than nothing",
  },
  {
    rule: "a budget begins where its time zone is known",
    accepts: [
      key("{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day, timeZone: Europe/Berlin }] }"),
      team("{ budgets: [{ tokens: 9, period: Day, timeZone: America/Argentina/Buenos_Aires }] }"),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day, timeZone: Local }] }"),
      team("{ budgets: [{ tokens: 9, period: Day, timeZone: Local }] }"),
    ],
    says: "timeZone is none that is known",
  },
  {
    rule: "who counts belongs to a rate",
    accepts: [
      key("{ preset: MCPReadOnly, rateLimit: { requestsPerMinute: 60, scope: Installation, concurrent: 4 } }"),
      team("{ rateLimit: { tokensPerMinute: 9000, scope: Installation } }"),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, rateLimit: { concurrent: 4, scope: Installation } }"),
      team("{ rateLimit: { concurrent: 4, scope: Replica } }"),
      gateway(
        `{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, rateLimit: { concurrent: 4, scope: Installation }")} }`,
      ),
    ],
    says: "rateLimit: scope belongs to a rate",
  },
  {
    rule: "a version lives for a second at least",
    accepts: [key("{ preset: MCPReadOnly, expiresAfter: 1s }")],
    refuses: [key("{ preset: MCPReadOnly, expiresAfter: 999ms }"), key("{ preset: MCPReadOnly, expiresAfter: 0h }")],
    says: "spec.expiresAfter: expiresAfter must be at least a second",
  },
  {
    rule: "a rotation takes a second at least",
    accepts: [key("{ preset: MCPReadOnly, rotation: { interval: 1s, overlap: { duration: 0s } } }")],
    refuses: [key("{ preset: MCPReadOnly, rotation: { interval: 0s, overlap: { duration: 0s } } }")],
    says: "spec.rotation.interval: interval must be at least a second",
  },
  {
    rule: "an interval leaves room for the overlap, the default one counted",
    accepts: [
      key("{ preset: MCPReadOnly, rotation: { interval: 6h } }"),
      key("{ preset: MCPReadOnly, rotation: { interval: 6h, overlap: {} } }"),
      key("{ preset: MCPReadOnly, rotation: { interval: 15m, overlap: { mode: Fixed, duration: 1h } } }"),
      key("{ preset: MCPReadOnly, rotation: { interval: 1h, overlap: { mode: Adoption, min: 0s, max: 4h } } }"),
      key("{ preset: MCPReadOnly, rotation: { trigger: x, overlap: { mode: Fixed, duration: 9999h } } }"),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, rotation: { interval: 5h59m } }"),
      key("{ preset: MCPReadOnly, rotation: { interval: 5h59m, overlap: {} } }"),
      key("{ preset: MCPReadOnly, rotation: { interval: 14m59s, overlap: { mode: Fixed, duration: 1h } } }"),
      key("{ preset: MCPReadOnly, rotation: { interval: 59m, overlap: { mode: Adoption, min: 0s, max: 4h } } }"),
    ],
    says: "spec.rotation.interval: interval must be at least a quarter of the overlap",
  },
  {
    rule: "c63: a key ends between the years 1 and 9999",
    accepts: [
      key('{ preset: MCPReadOnly, expiresAt: "0001-01-01T00:00:00Z" }'),
      key('{ preset: MCPReadOnly, expiresAt: "9999-12-31T23:59:59.999Z" }'),
      key('{ preset: MCPReadOnly, expiresAt: "2027-01-31T00:00:00+14:00" }'),
    ],
    refuses: [
      key('{ preset: MCPReadOnly, expiresAt: "0000-06-01T00:00:00Z" }'),
      key('{ preset: MCPReadOnly, expiresAt: "0001-01-01T00:00:00+00:01" }'),
      key('{ preset: MCPReadOnly, expiresAt: "9999-12-31T23:59:59-00:01" }'),
    ],
    says: "spec.expiresAt: expiresAt must lie between the years 1 and 9999",
  },
  {
    rule: "b502: a key ends at a time with parts of a second and an offset, as Python and .NET write it",
    accepts: [
      key('{ preset: MCPReadOnly, expiresAt: "2027-01-31T00:00:00.123456+00:00" }'),
      key('{ preset: MCPReadOnly, expiresAt: "2027-01-31T00:00:00.1234567-08:00" }'),
      key('{ preset: MCPReadOnly, expiresAt: "9999-12-31T23:59:59.999999999+14:00" }'),
    ],
    refuses: [
      key('{ preset: MCPReadOnly, expiresAt: "0001-01-01T00:00:00.123456789+00:01" }'),
      key('{ preset: MCPReadOnly, expiresAt: "9999-12-31T23:59:59.999999999-00:01" }'),
    ],
    says: "spec.expiresAt: expiresAt must lie between the years 1 and 9999",
  },
  {
    rule: "Revoked is final",
    old: key("{ preset: MCPReadOnly, state: Revoked }"),
    accepts: [key("{ preset: MCPReadOnly, state: Revoked }")],
    refuses: [
      key("{ preset: MCPReadOnly, state: Active }"),
      key("{ preset: MCPReadOnly, state: Suspended }"),
      key("{ preset: MCPReadOnly }"),
    ],
    says: "spec.state: Revoked is final",
  },
  {
    rule: "a template writes its entries where the key is not",
    accepts: [
      key("{ preset: MCPReadOnly, secret: { template: McpConfig, dataKey: config.json } }"),
      key("{ preset: MCPReadOnly, secret: { template: ServiceBinding, dataKey: password } }"),
      key("{ preset: MCPReadOnly, secret: { dataKey: mcp.json } }"),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, secret: { template: McpConfig, dataKey: mcp.json } }"),
      key("{ preset: MCPReadOnly, secret: { template: ServiceBinding, dataKey: type } }"),
    ],
    says: "spec.secret.dataKey: secret.template writes something else there: write another data key",
  },
  {
    rule: "an imported Secret is named with its type",
    accepts: [
      key("{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: old } } }"),
      key("{ preset: MCPReadOnly, source: {} }"),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, source: { secretRef: { name: old } } }"),
      key("{ preset: MCPReadOnly, source: { type: ImportSecret } }"),
    ],
    says: "spec.source: secretRef and type: ImportSecret belong together",
  },
  {
    rule: "an imported hash is given with its type",
    accepts: [
      key(
        `{ preset: MCPReadOnly, source: { type: ImportHash, hash: { sha256: ${"0a".repeat(32)}, prefix: inf_abcd1234 } } }`,
      ),
    ],
    refuses: [
      key(`{ preset: MCPReadOnly, source: { hash: { sha256: ${"0a".repeat(32)}, prefix: inf_abcd1234 } } }`),
      key("{ preset: MCPReadOnly, source: { type: ImportHash } }"),
    ],
    says: "spec.source: hash and type: ImportHash belong together",
  },
  {
    rule: "the source does not change",
    old: key("{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: old } } }"),
    accepts: [key("{ preset: MCPReadWrite, source: { type: ImportSecret, secretRef: { name: old, key: api-key } } }")],
    refuses: [
      key("{ preset: MCPReadOnly }"),
      key("{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: other } } }"),
    ],
    says: "spec.source: source does not change",
  },
  {
    rule: "the Secret's name does not change",
    old: key("{ preset: MCPReadOnly, secret: { name: s } }"),
    accepts: [key("{ preset: MCPReadOnly, secret: { name: s, template: Env } }")],
    refuses: [key("{ preset: MCPReadOnly, secret: { name: t } }"), key("{ preset: MCPReadOnly }")],
    says: "spec.secret: secret.name does not change",
  },
  {
    rule: "a default Secret's name may be written out and nothing else",
    old: key("{ preset: MCPReadOnly }"),
    accepts: [key("{ preset: MCPReadOnly, secret: { name: a } }")],
    refuses: [key("{ preset: MCPReadOnly, secret: { name: b } }")],
    says: "spec.secret: secret.name does not change",
  },
  {
    rule: "the data key does not change",
    old: key("{ preset: MCPReadOnly }"),
    accepts: [key("{ preset: MCPReadOnly, secret: { dataKey: api-key } }")],
    refuses: [key("{ preset: MCPReadOnly, secret: { dataKey: token } }")],
    says: "spec.secret.dataKey: secret.dataKey does not change",
  },
  {
    rule: "an imported Secret is never the one written to",
    accepts: [
      key("{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: old } } }"),
      key("{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: a } }, secret: { name: b } }"),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: a } } }"),
      key("{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: s } }, secret: { name: s } }"),
    ],
    says: "spec.secret: an imported Secret is never written to",
  },
  {
    rule: "a fixed overlap has a duration alone",
    accepts: [
      key("{ preset: MCPReadOnly, rotation: { overlap: { mode: Fixed, duration: 0s } } }"),
      key("{ preset: MCPReadOnly, rotation: { overlap: {} } }"),
    ],
    refuses: [
      key("{ preset: MCPReadOnly, rotation: { overlap: { min: 1h, max: 2h } } }"),
      key("{ preset: MCPReadOnly, rotation: { overlap: { mode: Fixed, quiet: 1h } } }"),
    ],
    says: "spec.rotation.overlap: min, max and quiet belong to mode: Adoption",
  },
  {
    rule: "an overlap by adoption has no duration",
    accepts: [key("{ preset: MCPReadOnly, rotation: { overlap: { mode: Adoption, min: 1h, max: 2h, quiet: 5m } } }")],
    refuses: [
      key("{ preset: MCPReadOnly, rotation: { overlap: { mode: Adoption, min: 1h, max: 2h, duration: 1h } } }"),
    ],
    says: "spec.rotation.overlap.duration: duration belongs to mode: Fixed",
  },
  {
    rule: "an overlap by adoption has both bounds",
    accepts: [key("{ preset: MCPReadOnly, rotation: { overlap: { mode: Adoption, min: 1h, max: 1h } } }")],
    refuses: [key("{ preset: MCPReadOnly, rotation: { overlap: { mode: Adoption, min: 1h } } }")],
    says: "spec.rotation.overlap: mode: Adoption needs min and max",
  },
  {
    rule: "an overlap's bounds are in order",
    accepts: [key("{ preset: MCPReadOnly, rotation: { overlap: { mode: Adoption, min: 90m, max: 2h } } }")],
    refuses: [key("{ preset: MCPReadOnly, rotation: { overlap: { mode: Adoption, min: 90m, max: 1h } } }")],
    says: "spec.rotation.overlap.min: min must not be longer than max",
  },
  {
    rule: "a team's default library is in a namespace of the team",
    accepts: [
      team("{ namespaces: [x], mcpAgentPolicy: { defaultLibraryRef: { namespace: x, name: l } } }"),
      team("{ mcpAgentPolicy: {} }"),
    ],
    refuses: [
      team("{ namespaces: [x], mcpAgentPolicy: { defaultLibraryRef: { namespace: z, name: l } } }"),
      team("{ mcpAgentPolicy: { defaultLibraryRef: { namespace: z, name: l } } }"),
    ],
    says: "spec.mcpAgentPolicy.defaultLibraryRef: the default library must be in a namespace of the team",
  },
  {
    rule: "a webhook's signing secret is in a namespace of the team",
    accepts: [team(`{ namespaces: [x], webhooks: [${webhook("x")}] }`), team("{ webhooks: [] }")],
    refuses: [team(`{ namespaces: [x], webhooks: [${webhook("z")}] }`), team(`{ webhooks: [${webhook("x")}] }`)],
    says: "spec.webhooks: a webhook's signing secret must be in a namespace of the team",
  },
  {
    rule: "a member is named in one way",
    accepts: [
      team(
        "{ members: [{ role: admin, group: g }, { role: viewer, subject: s }, { role: member, serviceAccount: { namespace: x, name: s } }] }",
      ),
    ],
    refuses: [team("{ members: [{ role: admin }] }"), team("{ members: [{ role: admin, group: g, subject: s }] }")],
    says: "spec.members[0]: a member is named in one way: write exactly one of subject, group and serviceAccount",
  },
  {
    rule: "a gateway's public id does not change",
    old: gateway(`{ publicID: p, upstreams: [${upstream("u")}] }`),
    accepts: [gateway(`{ publicID: p, upstreams: [${upstream("v")}] }`)],
    refuses: [gateway(`{ publicID: q, upstreams: [${upstream("u")}] }`), gateway(`{ upstreams: [${upstream("u")}] }`)],
    says: "spec.publicID: publicID does not change",
  },
  {
    rule: "a route leads to an upstream of its gateway",
    accepts: [gateway(`{ upstreams: [${upstream("u")}], routes: ${route("upstream: u")} }`)],
    refuses: [gateway(`{ upstreams: [${upstream("u")}], routes: ${route("upstream: v")} }`)],
    says: "spec.routes: a route names an upstream that is not there",
  },
  {
    rule: "a fallback leads to an upstream of its gateway",
    accepts: [
      gateway(
        `{ upstreams: [${upstream("u")}, ${upstream("v")}], routes: ${route("upstream: u, fallbacks: [{ upstream: v, upstreamModel: z }]")} }`,
      ),
    ],
    refuses: [
      gateway(
        `{ upstreams: [${upstream("u")}], routes: ${route("upstream: u, fallbacks: [{ upstream: v, upstreamModel: z }]")} }`,
      ),
    ],
    says: "spec.routes: a fallback names an upstream that is not there",
  },
  {
    rule: "Azure's paths of OpenAI are below /openai/v1",
    accepts: [
      ...["https://a.openai.azure.com/openai/v1", "https://a.openai.azure.com:443/openai/v1/"],
      ...["https://a.openai.azure.com/openai", "https://a.cognitiveservices.azure.com/openai/"],
      ...[
        "https://a.cognitiveservices.azure.com/openai/v1",
        "https://a.services.ai.azure.com/api/projects/p/openai/v1",
      ],
      ...[
        "https://a.eu.models.ai.azure.com",
        "https://a.example/b.openai.azure.com",
        "https://openai.azure.com.example",
      ],
      ...["https://gateway.azure-api.net/openai"],
    ].map((url) => gateway(`{ upstreams: [{ name: a, dialect: openai, baseURL: "${url}" }] }`)),
    refuses: [
      ...["https://a.openai.azure.com", "https://a.openai.azure.com/"],
      ...["https://a.openai.azure.com/openai/deployments/gpt", "https://a.openai.azure.us:443/v1"],
      ...["https://a.cognitiveservices.azure.com/openai/v1/chat/completions", "http://a.b.openai.azure.cn/openai/v2"],
    ].map((url) => gateway(`{ upstreams: [{ name: a, dialect: openai, baseURL: "${url}" }] }`)),
    says: "spec.upstreams[0].baseURL: is at Azure, which serves OpenAI's paths without a query below /openai/v1 alone",
  },
  {
    rule: "a fallback speaks its route's dialect",
    accepts: [
      gateway(
        `{ upstreams: [${upstream("u", "gemini")}, ${upstream("v", "gemini")}], routes: ${route("upstream: u, fallbacks: [{ upstream: v, upstreamModel: z }]")} }`,
      ),
    ],
    refuses: [
      gateway(
        `{ upstreams: [${upstream("u")}, ${upstream("v", "anthropic")}], routes: ${route("upstream: u, fallbacks: [{ upstream: v, upstreamModel: z }]")} }`,
      ),
    ],
    says: "spec.routes: a fallback has another dialect than its route's upstream",
  },
  ...[
    (name: string) => key(`{ preset: MCPReadOnly, displayName: "${name}" }`),
    (name: string) => team(`{ displayName: "${name}" }`),
    (name: string) => library(`{ displayName: "${name}" }`),
  ].map((named) => ({
    rule: "b118: a display name holds no mark that turns the direction of text",
    accepts: ["\\u2029", "\\u202f", "\\u2065", "\\u206a", "\\u200e\\u200f", "שלום \\U0001f600"].map((text) =>
      named(`a${text}`),
    ),
    refuses: [...DIRECTION_MARKS, "b\\u202ec"].map((text) => named(`a${text}`)).concat(named("\\u202e")),
    says: "spec.displayName: must not hold U+202A to U+202E or U+2066 to U+2069, which turn the direction of text",
  })),
  {
    rule: "an owner holds no mark that turns the direction of text",
    accepts: ["ann@example.com", "Zoë, +49 30 123", "שלום"].map((owner) =>
      key(`{ preset: MCPReadOnly, owner: "${owner}" }`),
    ),
    refuses: DIRECTION_MARKS.map((mark) => key(`{ preset: MCPReadOnly, owner: "a${mark}" }`)),
    says: "spec.owner: must not hold U+202A to U+202E or U+2066 to U+2069, which turn the direction of text",
  },
  ...POLICY_RULE_CASES,
];
