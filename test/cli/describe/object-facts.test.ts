import { expect, test } from "vitest";
import { factsOf } from "../../../cli/describe/object-facts.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const key = { kind: "PlatformKey", metadata: { namespace: "dev", name: "agent" }, json: {} } as const;

test("a gateway is described with what its routes lead to, and their weights, retries, times and limits", () => {
  const route = { model: "fast", routeID: "rt", upstream: "main", upstreamModel: "real", fallbacks: [] };
  const routes = [
    route,
    { ...route, retry: { attempts: 2 }, timeouts: { idleSeconds: 9 }, rateLimit: { concurrent: 4 } },
    {
      ...{ ...route, weight: 3, sticky: "Key" as const },
      fallbacks: [
        { upstream: "spare", upstreamModel: "other", weight: 1 },
        { upstream: "last", upstreamModel: "small" },
      ],
    },
  ];
  const facts = factsOf({ kind: "ModelGateway", metadata: key.metadata, json: {}, spec: { routes } }, NOW);
  const said = [
    "fast: real of main",
    "fast: real of main, 2 more attempts, 9 s without a piece of it (4 calls under way)",
    "fast: real of main (weight 3 of 4) or other of spare (weight 1 of 4), each key stays with one of them",
  ];
  expect(facts).toContainEqual(["Routes", said]);
});

test("a gateway is described with the upstreams that are called without a credential", () => {
  const place = { name: "local", dialect: "openai", baseURL: "http://127.0.0.1:8000" } as const;
  const shown = (fields: object) =>
    factsOf(
      { kind: "ModelGateway", metadata: key.metadata, json: {}, spec: { upstreams: [{ ...place, ...fields }] } },
      NOW,
    ).find(([name]) => name === "Upstreams")?.[1];
  const said = "local: openai at http://127.0.0.1:8000";
  expect(shown({})).toEqual([`${said}, without a credential`]);
  expect(shown({ credentialRef: { name: "s", key: "k" } })).toEqual([said]);
  // As a server has it.
  expect(shown({ noCredential: true })).toEqual([`${said}, without a credential`]);
  expect(shown({ noCredential: false })).toEqual([said]);
});

test("a key is described with its owner, and without a word of one that it does not have", () => {
  expect(factsOf({ ...key, spec: { owner: "ann@example.com" } }, NOW)).toContainEqual(["Owner", "ann@example.com"]);
  expect(factsOf({ ...key, spec: {} }, NOW).map(([name]) => name)).not.toContain("Owner");
});
