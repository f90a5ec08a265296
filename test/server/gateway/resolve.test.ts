import { expect, test } from "vitest";
import { needsModel, type ResolvingKey, resolve } from "../../../server/gateway/resolve.ts";
import { gatewayRecord } from "../harness.ts";
import { routeOf, upstreamOf } from "./gateway.ts";

const key: ResolvingKey = { allowedModels: null, mayResolveRoutes: true };
const first = upstreamOf("http://one.test");
const second = upstreamOf("http://two.test", "openai", { name: "second" });
const claude = upstreamOf("http://three.test", "anthropic");
const gateway = gatewayRecord({
  upstreams: [first, second, claude],
  routes: [
    routeOf("fast", { fallbacks: [{ upstream: "second", upstreamModel: "other" }] }),
    routeOf("claude", { upstream: "anthropic" }),
    routeOf("gone", { upstream: "nowhere" }),
    routeOf("mixed", { fallbacks: [{ upstream: "anthropic", upstreamModel: "x" }] }),
  ],
});

test("a model that is no route goes to the first upstream of the path's format, as it is", () => {
  expect(resolve(gateway, key, "openai", "gpt")).toEqual({
    candidates: [{ upstream: first, model: undefined }],
    routeId: undefined,
  });
});

test("a route decides the upstream, the model and the fallbacks", () => {
  expect(resolve(gateway, key, "openai", "fast")).toEqual({
    candidates: [
      { upstream: first, model: "real-fast" },
      { upstream: second, model: "other" },
    ],
    routeId: "rt-fast",
  });
});

test("a fallback of another format is never asked", () => {
  expect(resolve(gateway, key, "openai", "mixed")).toMatchObject({ candidates: [{ upstream: first }] });
});

test.each([
  ["a format without an upstream", gateway, key, "gemini", "m", "not_found"],
  ["a route without gateway:routes", gateway, { ...key, mayResolveRoutes: false }, "openai", "fast", "forbidden"],
  ["a route of another format than the path", gateway, key, "openai", "claude", "invalid_request"],
  ["a route whose upstream is gone", gateway, key, "openai", "gone", "not_found"],
  ["another model where only routes are served", { ...gateway, routesOnly: true }, key, "openai", "gpt", "not_found"],
  [
    "no model where only routes are served",
    { ...gateway, routesOnly: true },
    key,
    "openai",
    undefined,
    "invalid_request",
  ],
  ["a model that the key does not allow", gateway, { ...key, allowedModels: ["x"] }, "openai", "fast", "forbidden"],
  [
    "no model where the key names what it allows",
    gateway,
    { ...key, allowedModels: ["x"] },
    "openai",
    undefined,
    "forbidden",
  ],
] as const)("%s is refused", (_what, record, who, dialect, model, code) => {
  expect(resolve(record, who, dialect, model)).toMatchObject({ code });
});

test("an allowed model passes", () => {
  expect(resolve(gateway, { ...key, allowedModels: ["fast"] }, "openai", "fast")).toHaveProperty("routeId", "rt-fast");
});

test("a body is inspected only where its model can matter", () => {
  const plain = gatewayRecord({ upstreams: [first] });
  expect(needsModel(plain, null)).toBe(false);
  expect(needsModel(plain, ["x"])).toBe(true);
  expect(needsModel({ ...plain, routesOnly: true }, null)).toBe(true);
  expect(needsModel(gateway, null)).toBe(true);
});
