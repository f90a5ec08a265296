import { describe, expect, test } from "vitest";
import { parseManifests } from "../../../../domain/manifest/document/parse.ts";
import { findSetWarnings } from "../../../../domain/manifest/set/set-warnings.ts";
import { readManifest } from "../../../../domain/manifest/validation/validate.ts";
import { manifest } from "../read.ts";

const at = (name: string, namespace = "dev") => ({ name, namespace });
const team = (name: string, ...namespaces: string[]) => manifest("PlatformTeam", { namespaces }, { name });
const key = (name: string, spec: object = {}, namespace = "dev") =>
  manifest("PlatformKey", { preset: "GatewayDefault", ...spec }, at(name, namespace));
const library = (name: string, spec: object = {}, namespace = "dev") =>
  manifest("MemoryLibrary", spec, at(name, namespace));
const gateway = (name: string, spec: object = {}, namespace = "dev") => {
  const upstream = { name: "u", dialect: "openai", baseURL: "https://api.example.com", credentialRef: at("provider") };
  const { name: secret } = upstream.credentialRef;
  return manifest(
    "ModelGateway",
    { upstreams: [{ ...upstream, credentialRef: { name: secret } }], ...spec },
    at(name, namespace),
  );
};
const upstreamWith = (dataKey: string) => ({
  upstreams: [
    {
      ...{ name: "u", dialect: "openai", baseURL: "https://api.example.com" },
      credentialRef: { name: "provider", key: dataKey },
    },
  ],
});
const secret = (name: string, data: Record<string, string> = { "api-key": "x" }, namespace = "dev") =>
  `apiVersion: v1\nkind: Secret\nmetadata: ${JSON.stringify(at(name, namespace))}\nstringData: ${JSON.stringify(data)}\n`;
const routes = (...models: string[]) => ({
  routesOnly: true,
  routes: models.map((model, i) => ({ model, routeID: `r${i}`, upstream: "u", upstreamModel: "m" })),
});

/** As `severity: path: message`. */
function warningsOf(...manifests: string[]): string[] {
  const { documents } = parseManifests(manifests.join("---\n"), "f.yaml");
  const entries = documents.map((document) => ({ document, read: readManifest(document) }));
  return findSetWarnings(entries, Date.parse("2026-11-01T00:00:00Z")).map(
    ({ severity, path, message }) => `${severity}: ${path}: ${message}`,
  );
}

const DEV = team("research", "dev");
const OPS = team("support", "ops");

test.each<[what: string, manifests: string[]]>([
  [
    "a team, its library, its gateway with a credential, and a key",
    [
      DEV,
      library("notes"),
      secret("provider"),
      gateway("main", routes("fast")),
      key("k", { gatewayRef: { name: "main" }, mcpDefaultLibraryRef: { name: "notes" }, allowedModels: ["fast"] }),
    ],
  ],
  [
    "two keys with a Secret each, of which one is revoked and leaves it",
    [DEV, key("a", { secret: { name: "s" } }), key("b", { secret: { name: "s" }, state: "Revoked" })],
  ],
  [
    "models of a gateway that serves others beside its routes",
    [
      DEV,
      secret("provider"),
      gateway("main", { ...routes("fast"), routesOnly: false }),
      key("k", { gatewayRef: { name: "main" }, allowedModels: ["gpt"] }),
    ],
  ],
  ["what is in a namespace of which a team with a fault may be", [DEV.replace("namespaces", "namespace"), key("k")]],
])("says nothing of %s", (_, manifests) => {
  expect(warningsOf(...manifests)).toEqual([]);
});

describe("warns of", () => {
  test.each<[what: string, manifests: string[], says: string]>([
    [
      "a namespace that no team claims, once",
      [DEV, key("a", {}, "elsewhere"), key("b", {}, "elsewhere")],
      "warning: metadata.namespace: no PlatformTeam among these manifests claims namespace elsewhere: add it to spec.namespaces of one, or name the folder that has its team with --filename too",
    ],
    [
      "a namespace that is misspelt",
      [team("research", "research-dev"), key("a", { gatewayRef: { name: "main" } }, "reserach-dev")],
      "warning: metadata.namespace: no PlatformTeam among these manifests claims namespace reserach-dev: did you mean research-dev?",
    ],
    [
      "a namespace that two teams claim",
      [DEV, team("support", "ops", "dev")],
      "warning: spec.namespaces[1]: PlatformTeam research claims namespace dev too, and one team alone gets it: remove it from one of the two",
    ],
    [
      "a gateway that is misspelt",
      [DEV, secret("provider"), gateway("main"), key("k", { gatewayRef: { name: "mian" } })],
      "warning: spec.gatewayRef: there is no ModelGateway dev/mian among these manifests: did you mean main?",
    ],
    [
      "a gateway's public id for its name",
      [
        DEV,
        secret("provider"),
        gateway("main", { publicID: "research-main" }),
        key("k", { gatewayRef: { name: "research-main" } }),
      ],
      "warning: spec.gatewayRef: there is no ModelGateway dev/research-main among these manifests: research-main is the public id of ModelGateway dev/main, so refer to it by its name",
    ],
    [
      "another team's gateway",
      [
        DEV,
        OPS,
        secret("provider", undefined, "ops"),
        gateway("main", {}, "ops"),
        key("k", { gatewayRef: at("main", "ops") }),
      ],
      "warning: spec.gatewayRef: ModelGateway ops/main is of PlatformTeam support, and this is of PlatformTeam research: refer to one of the same team",
    ],
    [
      "another team's library among those that a key may reach",
      [
        DEV,
        OPS,
        library("runs", {}, "ops"),
        key("k", { libraryAccess: { mode: "Restricted", libraryRefs: [at("runs", "ops")] } }),
      ],
      "warning: spec.libraryAccess.libraryRefs[0]: MemoryLibrary ops/runs is of PlatformTeam support, and this is of PlatformTeam research: refer to one of the same team",
    ],
    [
      "a key's Secret that is a manifest's",
      [DEV, secret("app"), key("app")],
      "warning: spec.secret.name: Secret dev/app is declared among these manifests, and a key is never written into another owner's Secret: choose another spec.secret.name, or declare an applied key under another metadata.name",
    ],
    [
      "a key's Secret that is another key's",
      [DEV, key("app"), key("bot", { secret: { name: "app" } })],
      "warning: spec.secret.name: Secret dev/app is written by PlatformKey dev/app, and a key is never written into another owner's Secret: choose another spec.secret.name, or declare an applied key under another metadata.name",
    ],
    [
      "a public id that is another gateway's",
      [DEV, secret("provider"), gateway("a", { publicID: "dev-main" }), gateway("b", { publicID: "dev-main" })],
      "warning: spec.publicID: ModelGateway dev/a has this public id too: write another one",
    ],
    [
      "b422: a credential that would be a key of Keyplane",
      [DEV, gateway("main"), key("bot", { secret: { name: "provider" } })],
      "warning: spec.upstreams[0].credentialRef: PlatformKey dev/bot writes Secret dev/provider, and its key would go to the provider: name another Secret",
    ],
    [
      "a credential that is misspelt",
      [DEV, secret("providers"), gateway("main")],
      "warning: spec.upstreams[0].credentialRef: there is no Secret dev/provider among these manifests: did you mean providers?",
    ],
    [
      "a credential whose data key is misspelt",
      [DEV, secret("provider", { apikey: "x" }), gateway("main")],
      "warning: spec.upstreams[0].credentialRef.key: Secret dev/provider has no data key api-key: did you mean apikey?",
    ],
    [
      "a credential that is empty",
      [DEV, secret("provider", { "api-key": " " }), gateway("main")],
      "warning: spec.upstreams[0].credentialRef.key: data key api-key of Secret dev/provider is empty: write the credential into it",
    ],
    [
      "a credential that is the placeholder of keyplane init",
      [DEV, secret("provider", { "api-key": "replace-me" }), gateway("main")],
      "warning: spec.upstreams[0].credentialRef.key: data key api-key of Secret dev/provider is still replace-me: write the provider's credential into it",
    ],
    [
      "a model that no route has",
      [
        DEV,
        secret("provider"),
        gateway("main", routes("fast-chat")),
        key("k", { gatewayRef: { name: "main" }, allowedModels: ["fast-chta"] }),
      ],
      "warning: spec.allowedModels[0]: no route of ModelGateway dev/main has it, and that gateway serves its routes alone: did you mean fast-chat?",
    ],
    [
      "a model to embed with that no route has",
      [
        DEV,
        secret("provider"),
        gateway("main", routes("small")),
        library("notes", { embedding: { gatewayRef: { name: "main" }, model: "text" } }),
      ],
      "warning: spec.embedding.model: no route of ModelGateway dev/main has it, and that gateway serves its routes alone: write one of small",
    ],
    [
      "a model to read conversations with that no route has",
      [
        DEV,
        secret("provider"),
        gateway("main", routes("small")),
        library("notes", { extraction: { gatewayRef: { name: "main" }, model: "text" } }),
      ],
      "warning: spec.extraction.model: no route of ModelGateway dev/main has it, and that gateway serves its routes alone: write one of small",
    ],
  ])("%s", (_, manifests, says) => {
    expect(warningsOf(...manifests)).toEqual([says]);
  });
});

test("notes an upstream that names no credential", () => {
  const upstream = { name: "u", dialect: "openai", baseURL: "http://127.0.0.1:8000" };
  expect(warningsOf(DEV, gateway("main", { upstreams: [upstream] }))).toEqual([
    "note: spec.upstreams[0]: has no credentialRef, so calls go there without a credential: name a Secret if this upstream asks for one",
  ]);
});

test.each([
  ["no Secret of its namespace is among them", secret("provider", undefined, "ops")],
  ["no Secret has nearly its name: another tool may make it", secret("webhook")],
])("notes a credential that is not there where %s", (_where, other) => {
  expect(warningsOf(DEV, OPS, other, gateway("main"))).toEqual([
    "note: spec.upstreams[0].credentialRef: Secret dev/provider is not among these manifests: see that it is made, with the data key api-key",
  ]);
});

describe("b78: shows nothing that may be a pasted key", () => {
  const pasted = `inf_${"x".repeat(57)}`;

  test.each<[where: string, manifests: string[]]>([
    ["as a data key", [secret("provider", { [pasted]: "x" }), gateway("main")]],
    ["where a data key is named", [secret("provider"), gateway("main", upstreamWith(pasted))]],
    [
      "where a data key is named that is empty",
      [secret("provider", { [pasted]: "" }), gateway("main", upstreamWith(pasted))],
    ],
    ["where a data key is named of a Secret that is not there", [gateway("main", upstreamWith(pasted))]],
    [
      "as a model",
      [
        secret("provider"),
        gateway("main", routes(pasted)),
        key("k", { gatewayRef: { name: "main" }, allowedModels: ["fast"] }),
      ],
    ],
  ])("%s", (_, manifests) => {
    const warnings = warningsOf(DEV, ...manifests).join();
    expect(warnings).toContain("inf_...");
    expect(warnings).not.toContain("xxxxxxxxxx");
  });
});

test.each(["constructor", "__proto__", "toString"])(
  "takes nothing that every object has for the data key %s",
  (name) => {
    expect(warningsOf(DEV, secret("provider"), gateway("main", upstreamWith(name)))).toEqual([
      `warning: spec.upstreams[0].credentialRef.key: Secret dev/provider has no data key ${name}: write one of api-key`,
    ]);
  },
);
