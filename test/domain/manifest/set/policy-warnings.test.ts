import { expect, test } from "vitest";
import { parseManifests } from "../../../../domain/manifest/document/parse.ts";
import { findSetWarnings } from "../../../../domain/manifest/set/set-warnings.ts";
import { readManifest } from "../../../../domain/manifest/validation/validate.ts";
import { manifest } from "../read.ts";

const NOW = Date.parse("2026-11-01T00:00:00Z");
const team = (labels: object = {}) => manifest("PlatformTeam", { namespaces: ["dev"] }, { name: "research", labels });
const key = (name: string, spec: object) => manifest("PlatformKey", spec, { name, namespace: "dev" });
const policy = (spec: object) => manifest("PlatformKeyPolicy", { teamSelector: {}, ...spec }, { name: "production" });

/** As `severity: path: message`. */
function warningsOf(...manifests: string[]): string[] {
  const { documents } = parseManifests(manifests.join("---\n"), "f.yaml");
  const entries = documents.map((document) => ({ document, read: readManifest(document) }));
  return findSetWarnings(entries, NOW).map(({ severity, path, message }) => `${severity}: ${path}: ${message}`);
}

test("a key that breaks a policy among the same manifests has a warning at its field", () => {
  const broken = key("a", { scopes: ["memory:read"], expiresAfter: "48h" });
  expect(warningsOf(team(), policy({ expiry: { max: "24h" } }), broken)).toEqual([
    "warning: spec.expiresAfter: a version lives for at most 24h: write at most 24h; PlatformKeyPolicy production asks for it, and a new key that breaks it is not issued",
  ]);
});

test("of more keys than a team may have the later ones by name have a warning", () => {
  const keys = ["a", "b"].map((name) => key(name, { scopes: ["memory:read"] }));
  expect(warningsOf(team(), policy({ maxKeys: 1 }), ...keys)).toEqual([
    "warning: metadata.name: the team may have 1 keys, and has as many before this one: revoke or delete one of them; PlatformKeyPolicy production asks for it, and a new key that breaks it is not issued",
  ]);
});

test("a policy is for the teams whose labels match, and has a warning where none does", () => {
  const selector = { matchExpressions: [{ key: "tier", operator: "In", values: ["gold"] }] };
  const gold = policy({ teamSelector: selector, allowedScopes: ["memory:write"] });
  const reader = key("a", { scopes: ["memory:read"] });
  expect(warningsOf(team({ tier: "gold" }), gold, reader)).toEqual([
    expect.stringContaining("warning: spec.scopes: memory:read may not be given"),
  ]);
  expect(warningsOf(team({ tier: "silver" }), gold, reader)).toEqual([
    expect.stringContaining("warning: spec.teamSelector: matches no PlatformTeam among these manifests"),
  ]);
});
