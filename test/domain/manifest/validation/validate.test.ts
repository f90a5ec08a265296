import { describe, expect, test } from "vitest";
import { parseManifests } from "../../../../domain/manifest/document/parse.ts";
import { readManifest } from "../../../../domain/manifest/validation/validate.ts";
import { errorsOf, gateway, key, manifest, readText, storedSpec, team, warningsOf } from "../read.ts";
import { MISTAKE_CASES } from "./mistake-cases.ts";

const SPECIFICATION_EXAMPLE = `
apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata: { name: research }
spec:
  displayName: Research
  namespaces: [research-dev, research-prod]
  members:
    - { role: admin, group: research-leads }
    - { role: member, serviceAccount: { namespace: ci, name: deployer } }
    - { role: viewer, subject: auditor@example.com }
  mcpAgentPolicy:
    defaultLibraryRef: { namespace: research-dev, name: handbook }
---
apiVersion: keyplane.dev/v1alpha1
kind: MemoryLibrary
metadata: { name: handbook, namespace: research-dev }
spec: { displayName: Handbook }
---
apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: main, namespace: research-dev }
spec:
  publicID: research-main
  upstreams:
    - name: openai
      dialect: openai            # openai, gemini or anthropic
      baseURL: https://api.openai.com
      credentialRef: { name: openai-provider, key: api-key }   # a Secret of this namespace
  routes:
    - { model: fast-chat, routeID: rt-fast, upstream: openai, upstreamModel: gpt-5-mini, fallbacks: [] }
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: docs-agent, namespace: research-dev }
spec:
  displayName: Docs agent
  preset: MCPReadOnly
  gatewayRef: { name: main }
  libraryAccess: { mode: Restricted, libraryRefs: [{ name: handbook }] }
  mcpDefaultLibraryRef: { name: handbook }
  expiresAfter: 2160h
  rotation: { interval: 720h, overlap: { mode: Adoption, min: 24h, max: 72h }, trigger: "2026-11" }
  secret: { name: docs-agent-key, dataKey: api-key, template: McpConfig }
  restartTargets: [{ kind: Deployment, name: docs-agent }]
`;

test("a manifest of either version declares the same object", () => {
  const alpha = key("{ preset: MCPReadOnly }");
  const beta = alpha.replace("v1alpha1", "v1beta1");
  expect(beta).not.toBe(alpha);
  expect(errorsOf(beta)).toEqual([]);
  expect(storedSpec(beta)).toEqual(storedSpec(alpha));
});

test("b79: a key that was pasted into the wrong field of a manifest is in no diagnostic", () => {
  const pasted = "inf_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
  const wrong = (spec: string) => errorsOf(key(`{ ${spec} }`)).join("\n");
  for (const text of [wrong(`preset: ${pasted}`), wrong(`${pasted}: true`), wrong(`secret: { name: ${pasted} }`)]) {
    expect(text).toContain("inf_...");
    expect(text).not.toContain(pasted.slice(0, 12));
  }
});

test("the example of the specification is valid", () => {
  expect(errorsOf(SPECIFICATION_EXAMPLE)).toEqual([]);
  expect(readText(SPECIFICATION_EXAMPLE).manifests.map((one) => one?.kind)).toEqual([
    "PlatformTeam",
    "MemoryLibrary",
    "ModelGateway",
    "PlatformKey",
  ]);
});

test("a valid manifest comes with the schema's defaults, as the API server stores it", () => {
  expect(readText(key("{ preset: MCPReadOnly }")).manifests).toEqual([
    {
      kind: "PlatformKey",
      namespace: "team-a",
      name: "a",
      spec: {
        preset: "MCPReadOnly",
        state: "Active",
        source: { type: "Generate" },
        secret: { dataKey: "api-key", creationPolicy: "Owner", onLost: "Rotate", onTampered: "Rotate" },
        restartTargets: [],
        deletionPolicy: "Revoke",
        deletionProtection: false,
      },
      takeOver: null,
      labels: {},
    },
  ]);
  expect(readText(team("{}")).manifests).toMatchObject([{ namespace: "", spec: { namespaces: [], members: [] } }]);
});

test("nothing behind a field that has a default is the default, as on the API server", () => {
  const { diagnostics, manifests } = readText(
    key("{ preset: MCPReadOnly, state: , restartTargets: , secret: { dataKey: } }"),
  );
  expect(diagnostics).toEqual([]);
  expect(manifests).toEqual(readText(key("{ preset: MCPReadOnly }")).manifests);
});

describe.each(MISTAKE_CASES)("%s", (_, accepted, refused, says) => {
  test("is refused, with a message that says what is wrong", () => {
    expect(errorsOf(refused)).toHaveLength(1);
    expect(errorsOf(refused)[0]).toContain(says);
  });
  test("is accepted once it is corrected", () => expect(errorsOf(accepted)).toEqual([]));
});

describe.each<[string, string, string]>([
  [
    "a gateway without a gateway scope",
    key("{ scopes: [memory:read], gatewayRef: { name: g } }"),
    "spec.gatewayRef: has no effect without a gateway scope",
  ],
  [
    "models without a gateway scope",
    key("{ scopes: [memory:read], allowedModels: [m] }"),
    "spec.allowedModels: has no effect without a gateway scope",
  ],
  [
    "an MCP file without a memory scope",
    key("{ scopes: [gateway:embed], secret: { template: McpConfig } }"),
    "spec.secret.template: McpConfig is of no use without a memory scope",
  ],
  [
    "versions that end before they rotate",
    key("{ scopes: [gateway:embed], expiresAfter: 720h, rotation: { interval: 720h } }"),
    "spec.expiresAfter: ends each version before",
  ],
  [
    "an interval shorter than the overlap",
    key("{ scopes: [gateway:embed], rotation: { interval: 23h } }"),
    "spec.rotation.interval: is shorter than the overlap",
  ],
])("%s", (_, text, says) => {
  test("is a warning", () => {
    expect(errorsOf(text)).toEqual([]);
    expect(warningsOf(text)).toEqual([expect.stringContaining(says)]);
  });
});

test("a take-over that a controller will refuse is a warning", () => {
  const manifest = (id: string, spec: string) =>
    key(spec).replace("metadata: {", `metadata: { annotations: { keyplane.dev/take-over: ${id} },`);
  const hash = `{ preset: MCPReadOnly, source: { type: ImportHash, hash: { sha256: ${"a".repeat(64)}, prefix: inf_abcdefgh } } }`;
  expect(readText(manifest("key_abc", hash))).toMatchObject({ manifests: [{ takeOver: "key_abc" }], diagnostics: [] });
  expect(warningsOf(manifest("reader", hash))).toEqual([expect.stringContaining("take-over: is no key's id")]);
  expect(warningsOf(manifest("key_abc", "{ preset: MCPReadOnly }"))).toEqual([
    expect.stringContaining("wants spec.source to be of type ImportHash"),
  ]);
});

test("c63: an end in the past is a warning where the time is known", () => {
  const { documents } = parseManifests(key('{ preset: MCPReadOnly, expiresAt: "2026-11-14T12:00:00Z" }'), "f.yaml");
  const warnings = (now?: number) =>
    documents.flatMap((document) => readManifest(document, undefined, now).diagnostics.map(({ message }) => message));
  const end = Date.UTC(2026, 10, 14, 12);
  expect(warnings(end)).toEqual([expect.stringContaining("is in the past")]);
  expect([warnings(end - 1), warnings()]).toEqual([[], []]);
});

test("what was stored before a rule came to be goes on unchanged, and is judged when it changes", () => {
  const stored = { ...storedSpec(key("{ preset: MCPReadOnly }")), expiresAt: "0000-06-01T00:00:00Z" };
  const errors = (rest: string) =>
    errorsOf(key(`{ preset: MCPReadOnly, expiresAt: "0000-06-01T00:00:00Z"${rest} }`), stored);
  expect([errors(""), errors(", displayName: other")]).toEqual([[], []]);
  expect(errorsOf(key('{ preset: MCPReadOnly, expiresAt: "0000-06-02T00:00:00Z" }'), stored)).toHaveLength(1);
});

test("a key that uses what it has is not warned of", () => {
  const text =
    "{ preset: GatewayDefault, gatewayRef: { name: g }, allowedModels: [m], expiresAfter: 48h, rotation: { interval: 24h }, secret: { template: McpConfig } }";
  expect(warningsOf(key(text))).toEqual([]);
});

describe("a diagnostic", () => {
  const text = `apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: g, namespace: team-a }
spec:
  publicID: Nope
  upstreams:
    - name: u
      dialect: openai
      baseUrl: https://x.example
      credentialRef: { name: s }
`;
  const diagnostics = readText(text).diagnostics.map(({ line, column, path }) => ({ line, column, path }));
  test("of a bad value is at the value", () =>
    expect(diagnostics).toContainEqual({ line: 5, column: 13, path: "spec.publicID" }));
  test("of an unknown field is at its name", () =>
    expect(diagnostics).toContainEqual({ line: 9, column: 7, path: "spec.upstreams[0].baseUrl" }));
  test("of a missing field is at its nearest parent", () =>
    expect(diagnostics).toContainEqual({ line: 7, column: 7, path: "spec.upstreams[0].baseURL" }));
  test("is one for each mistake", () => expect(diagnostics).toHaveLength(3));
});

describe("a core Secret", () => {
  const secret = (rest: string) => `apiVersion: v1\nkind: Secret\nmetadata: { name: s, namespace: n1 }\n${rest}\n`;
  test("is read, stringData over data", () => {
    expect(readText(secret("data: { a: YQ==, b: Yg== }\nstringData: { b: plain }")).manifests).toEqual([
      { kind: "Secret", namespace: "n1", name: "s", data: { a: "a", b: "plain" } },
    ]);
  });
  test.each([
    ["stringData: { a: 55512345 }", "stringData.a: must be text: write the value in quotes"],
    ["data: { a: '55512345!' }", "data.a: is not base64"],
    ["data: { a: '5551234' }", "data.a: is not base64"],
    ["data: { ../a: YQ== }", "data.../a: is no data key of a Secret"],
    ["stringDate: { a: '55512345' }", "stringDate: unknown field: did you mean stringData?"],
    ["data: [55512345]", "data: must be a mapping"],
  ])("with %s is refused, and no message shows a value", (rest, says) => {
    const errors = errorsOf(secret(rest));
    expect(errors).toEqual([expect.stringContaining(says)]);
    expect(errors.join()).not.toContain("55512345");
  });
  test("c99: is read without what is no text in UTF-8, which is said", () => {
    const { manifests, diagnostics } = readText(secret("data: { a: YQ==, key: cORzcw== }"));
    expect(manifests).toEqual([{ kind: "Secret", namespace: "n1", name: "s", data: { a: "a" } }]);
    expect(diagnostics.map(({ severity, path, message }) => [severity, path, message])).toEqual([
      ["warning", "data.key", "is no text in UTF-8, and is left out: encode the text as UTF-8 and then in base64"],
    ]);
  });
  test("shows no value where its YAML is broken or surprising", () => {
    const diagnostics = [
      ...readText(secret("stringData: { a: 0777, b: yes, c: 'canary1' 'canary2' }")).diagnostics,
      ...readText(secret("stringData: { a: 0777, b: 12:30 }")).diagnostics,
      ...readText(secret("stringData:\n  a: |canary\n   x")).diagnostics,
    ];
    expect(diagnostics.length).toBeGreaterThan(3);
    expect(JSON.stringify(diagnostics.map(({ message }) => message))).not.toMatch(/0777|canary|12:30/);
  });
});

describe("b318: what SOPS has encrypted", () => {
  const ENC = '"ENC[AES256_GCM,data:Tr7o,iv:1vTu,tag:k1vT,type:str]"';
  const SOPS = 'sops: { mac: "ENC[AES256_GCM,data:abc=,iv:abc=,tag:abc==,type:str]", version: 3.11.0 }\n';
  const secret = (rest: string) => `apiVersion: v1\nkind: Secret\nmetadata: { name: s, namespace: n1 }\n${rest}\n`;
  const whole = `apiVersion: ${ENC}\nkind: ${ENC}\nmetadata: { name: ${ENC} }\nspec: { a: [${ENC}] }\n`;
  /** With the severities that a check of files has, and those that what applies them has. */
  const read = (text: string) =>
    [() => true, undefined].map((mayBeUnread) => {
      const reads = parseManifests(text, "f.yaml").documents.map((one) => readManifest(one, undefined, 0, mayBeUnread));
      expect(reads.map(({ manifest }) => manifest)).toEqual(reads.map(() => undefined));
      return reads.flatMap(({ diagnostics }) => diagnostics.map(({ severity, path }) => `${severity}: ${path}`));
    });

  test.each<[string, string, readonly string[]]>([
    ["data", secret(`data: { api-key: ${ENC}, other: YQ== }`), ["data.api-key"]],
    ["stringData", secret(`stringData: { api-key: ${ENC} }\ntype: Opaque`), ["stringData.api-key"]],
    [
      "a type and annotations",
      secret(`data: {}\ntype: ${ENC}`).replace("name: s", `name: s, annotations: { a: ${ENC} }`),
      ["metadata.annotations.a"],
    ],
    ["a whole file", whole, ["apiVersion"]],
    ["a Keyplane object", key(`{ preset: ${ENC}, rateLimit: { requestsPerMinute: ${ENC} } }`), ["spec.preset"]],
    [
      "a gateway",
      gateway(
        `{ publicID: ${ENC}, upstreams: [{ name: ${ENC}, dialect: openai, baseURL: ${ENC}, credentialRef: { name: a } }], routes: [] }`,
      ),
      ["spec.publicID"],
    ],
    [
      "a list",
      `apiVersion: v1\nkind: List\nitems: [{ apiVersion: v1, kind: Secret, metadata: { name: s, namespace: n }, data: { a: ${ENC} } }]\n`,
      ["items[0].data.a"],
    ],
  ])("is not read, of %s; where it would be applied, it is to be decrypted first", (_what, text, [path]) => {
    expect(read(`${text}${SOPS}`)).toEqual([[`note: ${path}`], [`error: ${path}`]]);
  });

  test.each<[string, string, string]>([
    ["an unknown field", secret(`data: { a: ${ENC} }\nstringDate: { b: c }`), "stringDate"],
    ["a value that is no base64", secret(`data: { a: ${ENC}, b: "55512345!" }`), "data.b"],
    ["a name of data that is none", secret(`data: { ../a: ${ENC} }`), "data.../a"],
    ["an unknown field of a key", key(`{ preset: ${ENC}, scope: [] }`), "spec.scope"],
    ["a wrong value of a key", key(`{ preset: ${ENC}, state: Gone }`), "spec.state"],
  ])("leaves %s beside it at fault", (_what, text, path) => {
    for (const said of read(`${text}${SOPS}`)) expect(said).toContain(`error: ${path}`);
  });

  test("with nothing encrypted is read as any other", () => {
    const [library] = readText(manifest("MemoryLibrary", "{}") + SOPS).manifests;
    const [clear] = readText(secret("data: { a: YQ== }") + SOPS).manifests;
    expect([library?.kind, clear]).toMatchObject(["MemoryLibrary", { data: { a: "a" } }]);
    expect(errorsOf(`${secret("data: { a: YQ== }")}sops: text`)).toEqual([
      expect.stringContaining("sops: unknown field"),
    ]);
  });

  const bare = ENC.slice(1, -1);
  const base64 = Buffer.from(`${bare}\n`).toString("base64");
  const block = (style: string) => `stringData:\n  a: ${style}\n    ${bare}\n`;
  const folded = `stringData:\n  a: >\n    ${bare.replace(",tag", ",\n    tag")}\n\n`;

  test.each<[string, string, string]>([
    ["in clear text", secret(`stringData: { a: ${ENC} }`), "stringData.a"],
    ["in place of base64", secret(`data: { a: ${ENC} }`), "data.a"],
    ["in base64", secret(`data: { a: ${base64} }`), "data.a"],
    ["in base64 of several lines", secret(`data:\n  a: |\n    ${base64.replace(/.{20}/g, "$&\n    ")}\n`), "data.a"],
    ["in a block with a newline behind it", secret(block("|")), "stringData.a"],
    ["in a block with newlines behind it", secret(block("|+")), "stringData.a"],
    ["in a folded block", secret(folded), "stringData.a"],
  ])("is never a value of a Secret: %s", (_what, text, path) => {
    expect(read(`${text}${SOPS}`)).toEqual([[`note: ${path}`], [`error: ${path}`]]);
    // It cannot be decrypted: neither may stay unread.
    expect(read(text)).toEqual(Array(2).fill([`error: ${path}`]));
    for (const sops of ["sops: null\n", "sops: []\n", "sops: text\n"])
      for (const said of read(`${text}${sops}`)) expect(said).toContain(`error: ${path}`);
  });

  test("is none of what is only like it", () => {
    const text = secret("stringData: { a: 'ENC[]', b: 'see ENC[AES256_GCM,data:a]', c: RU5DWw== }\ndata: { d: RU5D }");
    expect(readText(text).manifests).toMatchObject([{ data: { a: "ENC[]", d: "ENC" } }]);
    const declared = manifest("MemoryLibrary", `{ displayName: ${ENC} }`);
    expect(readText(declared).manifests).toMatchObject([{ spec: { displayName: bare } }]);
  });
});
