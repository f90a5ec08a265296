import { describe, expect, test } from "vitest";
import type { Spec } from "../../../../domain/kinds/kinds.ts";
import { gatewayWarnings, warningsFor } from "../../../../domain/manifest/validation/warnings.ts";
import { key, storedSpec } from "../read.ts";

const NOW = Date.parse("2026-11-01T00:00:00Z");

/** The fields of a key's spec that are warned of. */
function warned(spec: string, now?: number): string[] {
  return warningsFor(storedSpec(key(spec)) as Spec<"PlatformKey">, now).map(({ path }) => path.slice(1).join("."));
}

describe("what a key names of a product that it has no scope of", () => {
  test.each([
    ["{ preset: MCPReadOnly, gatewayRef: { name: main } }", ["gatewayRef"]],
    ["{ preset: MCPReadOnly, allowedModels: [a] }", ["allowedModels"]],
    ["{ scopes: [gateway:embed], gatewayRef: { name: main }, allowedModels: [a] }", []],
    ["{ preset: GatewayDefault, gatewayRef: { name: main } }", []],
    ["{ scopes: [gateway:routes], secret: { template: McpConfig } }", ["secret.template"]],
    ["{ preset: MCPReadOnly, secret: { template: McpConfig } }", []],
    ["{ scopes: [gateway:routes], secret: { template: Env } }", []],
  ])("%s: %j", (spec, fields) => expect(warned(spec)).toEqual(fields));
});

describe("times that do not fit together", () => {
  test.each([
    ["a version that ends before its successor", "expiresAfter: 24h, rotation: { interval: 48h }", ["expiresAfter"]],
    ["one that ends as its successor is minted", "expiresAfter: 48h, rotation: { interval: 48h }", ["expiresAfter"]],
    ["one that outlives the interval", "expiresAfter: 49h, rotation: { interval: 48h }", []],
    ["an interval below the overlap of 24h by default", "rotation: { interval: 12h }", ["rotation.interval"]],
    ["an interval as long as that overlap", "rotation: { interval: 24h }", []],
    [
      "an interval below a declared overlap",
      "rotation: { interval: 48h, overlap: { mode: Fixed, duration: 72h } }",
      ["rotation.interval"],
    ],
    [
      "an interval below the longest that an adoption may take",
      "rotation: { interval: 48h, overlap: { mode: Adoption, min: 1h, max: 72h } }",
      ["rotation.interval"],
    ],
  ])("%s", (_, fields, expected) => expect(warned(`{ preset: MCPReadOnly, ${fields} }`)).toEqual(expected));
});

describe("an end that is in the past", () => {
  const ending = (at: string) => `{ preset: MCPReadOnly, expiresAt: "${at}" }`;

  test("is warned of at that moment and after it", () => {
    expect(warned(ending("2026-11-01T00:00:00Z"), NOW)).toEqual(["expiresAt"]);
    expect(warned(ending("2026-11-01T00:00:01Z"), NOW)).toEqual([]);
  });

  test("is not judged where no time is given: the same text has the same warnings", () => {
    expect(warned(ending("2020-01-01T00:00:00Z"))).toEqual([]);
  });
});

test("a key with nothing surprising in it has no warning", () => {
  expect(warned("{ preset: MCPReadWrite, rotation: { interval: 720h }, expiresAfter: 1440h }", NOW)).toEqual([]);
});

describe("b263: a provider's base URL with what belongs to the path of a call", () => {
  test.each([
    ["openai", "https://api.openai.com", undefined],
    ["openai", "https://api.groq.com/openai", undefined],
    ["openai", "https://api.openai.com/v1", undefined],
    ["openai", "https://api.z.ai/api/paas/v4/", undefined],
    ["openai", "https://generativelanguage.googleapis.com/v1beta/openai", undefined],
    ["openai", "https://api.openai.com/v1/chat/completions", "/chat/completions"],
    ["openai", "https://api.z.ai/api/paas/v4/chat/completions/", "/chat/completions/"],
    ["openai", "https://generativelanguage.googleapis.com/v1beta/openai/embeddings", "/embeddings"],
    ["anthropic", "https://api.anthropic.com/v1", undefined],
    ["anthropic", "https://api.anthropic.com/v1/messages", "/messages"],
    ["gemini", "https://generativelanguage.googleapis.com", undefined],
    ["gemini", "https://generativelanguage.googleapis.com/v1beta", "/v1beta"],
    ["gemini", "https://generativelanguage.googleapis.com/v1beta/models", "/models"],
  ] as const)("%s at %s: %j", (dialect, baseURL, end) => {
    const upstream = { name: "a", dialect, baseURL, credentialRef: { name: "provider", key: "api-key" } };
    const found = gatewayWarnings({
      routesOnly: false,
      operations: ["generate", "embed", "models"],
      upstreams: [upstream],
      routes: [],
    });
    expect(found.map(({ message }) => message)).toEqual(
      end === undefined ? [] : [expect.stringMatching(`^ends in ${end}, .*: leave ${end} out`)],
    );
  });
});

test("a version at the end of a Gemini base URL stands for the client's only where it is the whole path", () => {
  const messages = ["https://g.example/v1beta", "https://proxy.example/api/v1"].flatMap((baseURL) =>
    gatewayWarnings({
      ...{ routes: [], routesOnly: false, operations: [] },
      upstreams: [{ name: "u", dialect: "gemini", baseURL }],
    }).map(({ message }) => message),
  );
  expect(messages).toEqual([
    expect.stringContaining("takes the place of the version that a client asks for"),
    expect.stringContaining("the version that a client asks for, such as /v1beta, is put behind it"),
  ]);
});

test.each(["team/chat", "chat%2Ffast", "chat?fast", "chat#1", "chat;1", "chat\\1"])(
  "a route %j is called by no client that names it in the path",
  (model) => {
    const gemini = { name: "gemini", dialect: "gemini" as const, baseURL: "https://models.example" };
    const openai = { ...gemini, name: "openai", dialect: "openai" as const };
    const route = { routeID: "r", upstreamModel: "m", fallbacks: [] };
    const found = gatewayWarnings({
      ...{ routesOnly: false, operations: [], upstreams: [gemini, openai] },
      routes: [
        { ...route, model, upstream: "gemini" },
        { ...route, model, upstream: "openai" },
        { ...route, model: "chat:1", upstream: "gemini" },
      ],
    });
    expect(found).toEqual([{ path: ["spec", "routes", 0, "model"], message: expect.stringContaining("leave out /") }]);
  },
);
