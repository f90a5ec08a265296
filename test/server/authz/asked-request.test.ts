import { describe, expect, test } from "vitest";
import { type ProxyKind, readAskedRequest, showsBody } from "../../../server/authz/asked-request.ts";
import { readVerifierPath } from "../../../server/authz/verifier-path.ts";
import { Problem } from "../../../server/http/problems/problem.ts";
import { NGINX } from "./verifier-harness.ts";

/** Where each proxy puts the request, written down again by hand. */
const PLACES: Readonly<Record<ProxyKind, readonly [method: string, target: string] | "its own">> = {
  nginx: ["X-Original-Method", "X-Original-URI"],
  caddy: ["X-Forwarded-Method", "X-Forwarded-Uri"],
  traefik: ["X-Forwarded-Method", "X-Forwarded-Uri"],
  envoy: "its own",
};
const PROXIES = Object.keys(PLACES) as ProxyKind[];
const PAIRS = [PLACES.nginx, PLACES.caddy].filter((place) => place !== "its own");

/** What is read of a request that a proxy asks about as it is set up to. */
function readAs(proxy: ProxyKind, method: string, target: string, more: readonly string[] = []) {
  const places = PLACES[proxy];
  if (places === "its own") return readAskedRequest(proxy, { method, rawHeaders: more }, target);
  return readAskedRequest(proxy, { method: "GET", rawHeaders: [places[0], method, places[1], target, ...more] }, "");
}

describe.each(PROXIES)("%s", (proxy) => {
  test.each([
    ["GET", "/", "/", ""],
    ["POST", "/v1/chat/completions", "/v1/chat/completions", ""],
    ["DELETE", "/v1/things/%C3%A4?a=b&c=//..", "/v1/things/%C3%A4", "a=b&c=//.."],
    ["PATCH", "/v1beta/models/m:generateContent?alt=sse", "/v1beta/models/m:generateContent", "alt=sse"],
    ["GET", "/.well-known/x/..a/a../...", "/.well-known/x/..a/a../...", ""],
  ])("reads %s %s", (method, target, path, query) => {
    expect(readAs(proxy, method, target)).toEqual({ method, path, query });
  });

  test.each([
    "//",
    "//v1/x",
    "/v1//x",
    "/g/mine/../other//v1/x",
    "/.",
    "/..",
    "/v1/./x",
    "/v1/../x",
    "/v1/x/..",
    "/v1/%2e%2e/x",
    "/v1/%2E/x",
    "/v1/x%2fy",
    "/v1/x%2Fy",
    "/v1\\x",
    "/v1/x%5cy",
    "/v1/x%5Cy",
    "/v1/%252e%252e/x",
    "/v1/x%25",
    "/v1/x;y",
    "/v1/x%3by",
    "/v1/x%00",
    "/v1/x%0a",
    "/v1/x%7f",
    "/v1/x%",
    "/v1/x%zz",
    "/v1/%c0%ae%c0%ae/x",
    "/v1/x%c0%afy",
    "/v1/x%ff",
    "/v1/x y",
    "/v1/ä",
    "/v1/x#y",
    "http://elsewhere/v1/x",
    "v1/x",
    "*",
    "?x",
  ])("b386: refuses the path %s, which two servers may read in two ways", (target) => {
    expect(readAs(proxy, "POST", target)).toMatchObject({ code: "invalid_request" });
  });

  test.each(["", "post", "GET /", "G\tET", "A".repeat(21)])("b386: refuses the method %j", (method) => {
    expect(readAs(proxy, method, "/v1/x")).toMatchObject({ code: "forbidden" });
  });

  test("b386: reads no other proxy's headers", () => {
    const forged = [...PAIRS.filter((pair) => pair !== PLACES[proxy] && pair[0] !== PLACES[proxy][0])].flatMap(
      ([method = "", target = ""]) => [method, "GET", target, "/v1/models"],
    );
    const read = readAs(proxy, "POST", "/v1/embeddings", [...forged, "X-HTTP-Method-Override", "GET"]);
    expect(read).toEqual({ method: "POST", path: "/v1/embeddings", query: "" });
    if (PLACES[proxy] === "its own") return;
    expect(readAskedRequest(proxy, { method: "GET", rawHeaders: forged }, "/v1/models")).toBeInstanceOf(Problem);
  });
});

describe.each(PROXIES.filter((proxy) => PLACES[proxy] !== "its own"))("%s", (proxy) => {
  const [method = "", target = ""] = PLACES[proxy];
  test.each([
    ["neither", []],
    ["no target", [method, "GET"]],
    ["no method", [target, "/v1/x"]],
    ["two targets", [method, "GET", target, "/v1/x", target, "/v1/y"]],
    ["two methods", [method, "GET", method.toLowerCase(), "POST", target, "/v1/x"]],
    ["an empty target", [method, "GET", target, ""]],
  ])("b386: refuses a question with %s", (_what, rawHeaders) => {
    expect(readAskedRequest(proxy, { method: "POST", rawHeaders }, "/v1/x")).toMatchObject({ code: "forbidden" });
  });
});

test("Envoy and Traefik show a body, nginx and Caddy none", () => {
  expect(PROXIES.filter(showsBody).sort()).toEqual(["envoy", "traefik"]);
});

describe("the path that a proxy is set up with", () => {
  test.each([
    ["/authz/nginx/g/research-main", NGINX, false, { publicId: "research-main" }, ""],
    ["/authz/caddy/g/a?x=y", "caddy", false, { publicId: "a" }, "?x=y"],
    ["/authz/envoy/g/a/v1/chat/completions?x", "envoy", false, { publicId: "a" }, "/v1/chat/completions?x"],
    ["/authz/envoy/unmetered/g/a/v1", "envoy", true, { publicId: "a" }, "/v1"],
    ["/authz/traefik/scope/memory:read", "traefik", false, { scope: "memory:read" }, ""],
    ["/authz/nginx/unmetered/scope/gateway:embed", NGINX, true, { scope: "gateway:embed" }, ""],
  ])("%s", (target, proxy, isUnmetered, protects, rest) => {
    expect(readVerifierPath(target)).toMatchObject({ proxy, isUnmetered, protects, rest });
  });

  test.each([
    "/",
    "/authz",
    "/authz/",
    "/authz/nginx",
    "/authz/nginx/g",
    "/authz/nginx/g/",
    "/authz/nginx/g//v1",
    "/authz/nginx/g/A",
    "/authz/nginx/g/a_b",
    "/authz/nginx/g/%61",
    "/authz/apache/g/a",
    "/authz/toString/g/a",
    "/authz/nginx/scope/memory:all",
    "/authz/nginx/scope/key:whoami",
    "/authz/nginx/metered/g/a",
    "/authz/nginx/unmetered/unmetered/g/a",
    "//authz/nginx/g/a",
    "http://here/authz/nginx/g/a",
    "/g/a/v1/models",
    "/atoms",
  ])("b386: %s is none", (target) => {
    expect(readVerifierPath(target)).toBeUndefined();
  });
});
