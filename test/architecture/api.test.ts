import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "../../domain/access/operations.ts";
import { products } from "../../processes/products.ts";
import type { RoutePlugin } from "../../server/app.ts";
import { OPENAPI_TAGS, referencePath } from "../../server/openapi/areas.ts";
import type { OpenApiDocument } from "../../server/openapi/format.ts";
import { type Harness, startHarness } from "../server/harness.ts";
import { CALLS } from "../server/openapi/calls.ts";
import { operationsOf } from "../server/openapi/described.ts";

const PAGES = ["/", "/docs", ...OPENAPI_TAGS.map(({ name }) => referencePath(name))];

/** The patterns of routes that no program is meant to call: who they are for. */
const NOT_DESCRIBED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PAGES.map((path) => [`GET ${path}`, "people"])),
  ...Object.fromEntries(PAGES.map((path) => [`HEAD ${path}`, "what checks pages for people"])),
  "GET /readyz": "load balancers",
  "HEAD /readyz": "load balancers",
  "GET /dashboard/assets/:name": "the pages",
  "HEAD /dashboard/assets/:name": "what checks pages",
  "GET /dashboard/sign-in": "people",
  "GET /dashboard/callback": "browsers that come back from an issuer",
  "POST /dashboard/backchannel-logout": "issuers, by OpenID Connect's own specification",
};

let harness: Harness;
let described: string[];
const served = new Set<string>();
beforeAll(async () => {
  const mounts = products().map(({ at, routes: add }) => ({
    at,
    routes: ((app, deps) => {
      app.addHook("onRoute", ({ method, url, config }) => {
        // Other methods' 405, the console's pages, and what is there by the paths that it takes.
        if (config?.allow !== undefined || config?.console || url.startsWith("/g/")) return;
        for (const name of [method].flat()) served.add(`${name} ${url}`);
      });
      return add(app, deps);
    }) satisfies RoutePlugin,
  }));
  harness = await startHarness({ mounts });
  const document: OpenApiDocument = JSON.parse(await (await fetch(`${harness.url}/openapi.json`)).text());
  described = operationsOf(document).map(({ name }) => name);
});
afterAll(() => harness.close());

describe("the description of the API", () => {
  it("has every route that is served, but for those that are no API of its users, and no others", () => {
    const wanted = [...served]
      .filter((route) => !(route in NOT_DESCRIBED))
      .map((route) => route.replace(/:(\w+)/g, "{$1}"));
    const besides = described.filter((name) => !name.includes(" /g/") && name !== "GET /openapi.json");
    expect(wanted.length).toBeGreaterThan(35);
    expect(besides.toSorted()).toEqual(wanted.toSorted());
    expect(Object.keys(NOT_DESCRIBED).filter((route) => !served.has(route))).toEqual([]);
  });

  it("has every operation of the gateway", () => {
    const operations = Object.keys(OPERATIONS).filter((name) => name.startsWith("gateway."));
    // Each but resolve_route has a path; some have one in two versions.
    expect(described.filter((name) => name.includes(" /g/{publicId}/")).length).toBeGreaterThanOrEqual(
      operations.length - 1,
    );
  });

  it("is held to the server, operation by operation: test/server/openapi/calls.ts has a call of each", () => {
    expect(Object.keys(CALLS).toSorted()).toEqual(described.toSorted());
  });
});
