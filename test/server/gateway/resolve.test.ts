import { expect, test } from "vitest";
import type { Dialect, GatewayRecord } from "../../../domain/access/key-record.ts";
import { needsModel, type ResolvingKey, resolve } from "../../../server/gateway/resolve.ts";
import { Problem } from "../../../server/http/problems/problem.ts";
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

test("b415: a call that is decided again has the order that it had; without a call, a route's is as declared", () => {
  const shared = (fields: object = {}) =>
    gatewayRecord({
      upstreams: [first, second, claude],
      routes: [
        routeOf("shared", {
          ...{ weight: 1, ...fields },
          fallbacks: [
            { upstream: "second", upstreamModel: "other", weight: 1 },
            { upstream: "anthropic", upstreamModel: "of another format", weight: 1 },
          ],
        }),
      ],
    });
  const firstOf = (record: GatewayRecord, ids: Partial<ResolvingKey>) => {
    const resolved = resolve(record, { ...key, ...ids }, "openai", "shared");
    if (resolved instanceof Problem) throw resolved;
    expect(resolved.candidates).toHaveLength(2);
    return resolved.candidates[0].model;
  };
  const ids = Array.from({ length: 40 }, (_, i) => `id-${i}`);
  const byCall = ids.map((callId) => firstOf(shared(), { callId, keyId: "one" }));
  expect(new Set(byCall)).toEqual(new Set(["real-shared", "other"]));
  expect(ids.map((callId) => firstOf(shared(), { callId, keyId: "another" }))).toEqual(byCall);
  expect(ids.map((keyId) => firstOf(shared({ sticky: "Key" }), { callId: "any", keyId }))).toEqual(byCall);
  expect(firstOf(shared({ weight: 0 }), {})).toBe("real-shared");
});

test("a refusal says what to do", () => {
  const detailOf = (record: GatewayRecord, rights: Partial<ResolvingKey>, dialect: Dialect) => {
    const refused = resolve(record, { ...key, ...rights }, dialect, "m");
    return refused instanceof Problem ? refused.detail : undefined;
  };
  expect(detailOf(gateway, {}, "gemini")).toBe(
    "This gateway has no upstream that speaks gemini: use a client of a format that it speaks (openai, anthropic), or have one added.",
  );
  expect(detailOf({ ...gateway, upstreams: [] }, {}, "openai")).toBe(
    "This gateway has no upstream that speaks openai: have one added.",
  );
  const routesOnly = { ...gateway, routesOnly: true };
  const none = "This gateway serves its logical routes alone, and the model is none of them.";
  expect(detailOf(routesOnly, {}, "anthropic")).toBe(`${none} This key may name: claude.`);
  expect(detailOf({ ...routesOnly, routes: [routeOf("fast")] }, {}, "anthropic")).toBe(
    `${none} This key may name: none in the anthropic format.`,
  );
  expect(detailOf(routesOnly, { mayResolveRoutes: false }, "openai")).toBe(
    `${none} To name one takes the scope gateway:routes, which this key lacks.`,
  );
});

test("where a key allows some models alone, a request without a model is asked for one", () => {
  const detailOf = (model: string | undefined) =>
    resolve(gateway, { ...key, allowedModels: ["fast", "gpt"] }, "openai", model);
  expect(detailOf(undefined)).toMatchObject({
    detail: "The request must name a model, and one that this key may use. Its allowed models are: fast, gpt.",
  });
  expect(detailOf("m")).toMatchObject({
    detail: "This key may not use this model. Its allowed models are: fast, gpt.",
  });
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
