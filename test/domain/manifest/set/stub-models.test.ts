/** A model of the stub that is left beside a provider. */
import { expect, test } from "vitest";
import { parseManifests } from "../../../../domain/manifest/document/parse.ts";
import { findSetWarnings } from "../../../../domain/manifest/set/set-warnings.ts";
import { readManifest } from "../../../../domain/manifest/validation/validate.ts";
import { manifest } from "../read.ts";

const at = (name: string) => ({ name, namespace: "dev" });
const OTHERS = [
  manifest("PlatformTeam", { namespaces: ["dev"] }, { name: "research" }),
  `apiVersion: v1\nkind: Secret\nmetadata: ${JSON.stringify(at("provider"))}\nstringData: { api-key: x }\n`,
];
const gateway = (spec: object) => manifest("ModelGateway", spec, at("main"));
const key = (spec: object) => manifest("PlatformKey", { preset: "GatewayDefault", ...spec }, at("k"));

/** As `path: message`. */
function warningsOf(...manifests: string[]): string[] {
  const { documents } = parseManifests([...OTHERS, ...manifests].join("---\n"), "f.yaml");
  const entries = documents.map((document) => ({ document, read: readManifest(document) }));
  return findSetWarnings(entries, 0).map(({ path, message }) => `${path}: ${message}`);
}

const upstream = (name: string, baseURL: string, dialect = "openai") => {
  return { name, dialect, baseURL, credentialRef: { name: "provider" } };
};
const STUB = "http://127.0.0.1:9100";
const route = (upstream: string, fallbacks: object[] = []) => {
  return { model: "fast", routeID: "r", upstream, upstreamModel: "stub-small", fallbacks };
};
const notes = (field: string, model: string) =>
  manifest("MemoryLibrary", { [field]: { gatewayRef: { name: "main" }, model } }, at("notes"));
const bound = key({ gatewayRef: { name: "main" }, allowedModels: ["gpt-5-mini", "stub-large"] });
const saidOf = (model: string, name: string, baseURL: string) =>
  `${model} is a name for the model stub, and upstream ${name} is at ${baseURL}: write the name of a model that is there`;

test.each<[what: string, upstreams: object[], more: string[], warnings: string[]]>([
  [
    "warns of each where the base URL alone was changed",
    [upstream("openai", "https://api.openai.com")],
    [notes("embedding", "stub-embedding"), bound],
    [
      `spec.routes[0].upstreamModel: ${saidOf("stub-small", "openai", "https://api.openai.com")}`,
      `spec.embedding.model: ${saidOf("stub-embedding", "openai", "https://api.openai.com")}`,
      `spec.allowedModels[1]: ${saidOf("stub-large", "openai", "https://api.openai.com")}`,
    ],
  ],
  [
    "warns of a model server on this machine that is another",
    [upstream("ollama", "http://localhost:11434/v1"), upstream("stub", STUB)],
    [notes("extraction", "stub-model"), bound],
    [
      `spec.routes[0].upstreamModel: ${saidOf("stub-small", "ollama", "http://localhost:11434/v1")}`,
      `spec.extraction.model: ${saidOf("stub-model", "ollama", "http://localhost:11434/v1")}`,
    ],
  ],
  [
    "says nothing of the stub, wherever it is",
    [upstream("a", STUB), upstream("b", "https://api.anthropic.com", "anthropic")],
    [notes("embedding", "stub-embedding"), bound],
    [],
  ],
  [
    "says nothing of the stub on the other ports that npm start names",
    [upstream("a", "http://127.0.0.1:9101"), upstream("b", "http://localhost:9199/v1")],
    [notes("embedding", "stub-embedding"), bound],
    [],
  ],
  [
    "warns of a port above them",
    [upstream("a", "http://127.0.0.1:9200"), upstream("b", STUB)],
    [bound],
    [`spec.routes[0].upstreamModel: ${saidOf("stub-small", "a", "http://127.0.0.1:9200")}`],
  ],
  ["says nothing of a stub in a cluster", [upstream("a", "http://model-stub.models.svc:80")], [bound], []],
  [
    "says nothing of a provider's own models, and of a route's name",
    [upstream("a", "https://openrouter.ai/api"), upstream("stub", STUB)],
    [notes("embedding", "fast"), key({ gatewayRef: { name: "main" }, allowedModels: ["my-stub-1"] })],
    [`spec.routes[0].upstreamModel: ${saidOf("stub-small", "a", "https://openrouter.ai/api")}`],
  ],
])("Of models of the stub, validate %s", (_, upstreams, more, warnings) => {
  const [{ name = "" } = {}] = upstreams as { name?: string }[];
  const main = gateway({ upstreams, routes: [route(name)] });
  expect(warningsOf(main, ...more)).toEqual(warnings);
});

test("Of models of the stub, validate warns of a fallback's", () => {
  const upstreams = [upstream("stub", STUB), upstream("real", "https://api.mistral.ai")];
  const routes = [route("stub", [{ upstream: "real", upstreamModel: "stub-large" }])];
  expect(warningsOf(gateway({ upstreams, routes }))).toEqual([
    `spec.routes[0].fallbacks[0].upstreamModel: ${saidOf("stub-large", "real", "https://api.mistral.ai")}`,
  ]);
});

test.each(["1b", "9b", "7", "200b", "202e"])(
  "b364: a warning shows no U+%s of a base URL: a terminal obeys it",
  (code) => {
    const baseURL = `https://api.example/${String.fromCodePoint(Number.parseInt(code, 16))}[2J`;
    const [warning] = warningsOf(
      gateway({ publicID: "main", upstreams: [upstream("a", baseURL)], routes: [route("a")] }),
    );
    expect(warning).toContain("https://api.example/\ufffd[2J");
  },
);
