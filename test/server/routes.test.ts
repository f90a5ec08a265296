/** What each route declares: checked on the real products, all of them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OPERATIONS } from "../../domain/access/operations.ts";
import { products } from "../../processes/products.ts";
import { PUBLIC_ROUTES, type RoutePlugin } from "../../server/app.ts";
import { MCP_METADATA, METADATA_ROOT } from "../../server/auth/protected-resource.ts";
import { OPENAPI_TAGS, referencePath } from "../../server/openapi/areas.ts";
import { ASSETS_ROUTE } from "../../server/pages/assets.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { type Harness, startHarness } from "./harness.ts";
import { sendRaw } from "./raw-http.ts";
import { withoutRequestIds } from "./request-ids.ts";

type Route = { readonly method: string; readonly url: string; readonly config: object };

describe("the products' routes", () => {
  let harness: Harness;
  const routes: Route[] = [];
  beforeAll(async () => {
    const mounts = products().map(({ at, routes: add }) => ({
      at,
      routes: ((app, deps) => {
        app.addHook("onRoute", ({ method, url, config }) => {
          for (const name of [method].flat()) routes.push({ method: name, url, config: config ?? {} });
        });
        return add(app, deps);
      }) satisfies RoutePlugin,
    }));
    harness = await startHarness({ mounts });
  });
  afterAll(() => harness.close());

  test("need a key, but for what says what there is and whether it is ready, the way to sign in, what pages look like, and reports of leaks", async () => {
    const open = routes.filter(({ config }) => "public" in config).map(({ url }) => url);
    const areas = OPENAPI_TAGS.map(({ name }) => referencePath(name));
    const signIn = ["/dashboard/sign-in", "/dashboard/callback", "/dashboard/backchannel-logout"];
    expect([...new Set(open)].sort()).toEqual(
      ["/", "/docs", ...areas, "/readyz", "/api/v1/leaks", ASSETS_ROUTE, ...signIn].sort(),
    );
    // Served where tokens of an issuer are taken.
    const metadata = [METADATA_ROOT, MCP_METADATA];
    expect([...PUBLIC_ROUTES].sort()).toEqual(["/openapi.json", ...metadata, ...new Set(open)].sort());
    expect((await fetch(`${harness.url}/openapi.json`)).status).toBe(200);
  });

  test("b13: all others are 401 without a key, by every method there is; a page leads to the sign-in", async () => {
    expect(routes.length).toBeGreaterThan(20);
    const asked = new Set<string>();
    for (const [i, { method, url, config }] of routes.entries()) {
      if ("public" in config) continue;
      // Of the methods that a path does not serve, by day one in four: each of them at some path.
      if ("allow" in config && !NIGHTLY && i % 4 !== 0) continue;
      asked.add(method);
      const path = url.replace(/:\w+/g, "x").replace("*", "v1/models");
      const host = `Host: 127.0.0.1:${harness.port}`;
      const bytes = `${method} ${path} HTTP/1.1\r\n${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
      const { status } = await sendRaw(harness.port, bytes);
      expect([method, path, status]).toEqual([
        method,
        path,
        "console" in config && ["GET", "HEAD"].includes(method) ? 303 : 401,
      ]);
    }
    expect(asked).toEqual(new Set(routes.map(({ method }) => method)));
  });

  test("every operation of REST and every path of the spec is served, at the root and under /api/v1/memory", () => {
    const served = new Set<string>();
    for (const { method, url, config } of routes) {
      if ("operation" in config && typeof config.operation === "string")
        served.add(`${method} ${url} ${config.operation}`);
    }
    for (const prefix of ["", "/api/v1/memory"]) {
      for (const [route, operation] of [
        ["GET /atoms", "atoms.list"],
        ["POST /atoms", "atoms.create"],
        ["PATCH /atoms", "atoms.update"],
        ["GET /atoms/search", "atoms.search"],
        ["GET /atoms/:id", "atoms.get"],
        ["GET /atoms/:id/revisions", "atoms.revisions"],
        ["GET /atoms/:id/neighbours", "atoms.neighbours"],
        ["DELETE /atoms/:id", "atoms.delete"],
      ] as const) {
        expect(OPERATIONS).toHaveProperty([operation]);
        expect([...served]).toContain(`${route.replace(" ", ` ${prefix}`)} ${operation}`);
      }
    }
  });

  test("unknown paths are 404 for everybody: which paths there are is in the documentation", async () => {
    const key = harness.addKey();
    for (const path of ["/nowhere", "/atoms/1/2/3", "/api/v1/memory", "/metrics", "/healthz", "/g"]) {
      const [without, withKey] = await Promise.all([
        fetch(harness.url + path),
        fetch(harness.url + path, { headers: { "x-api-key": key } }),
      ]);
      expect([path, without.status]).toEqual([path, withKey.status]);
      expect([path, without.status, withoutRequestIds(await without.text())]).toEqual([
        ...[path, 404],
        withoutRequestIds(await withKey.text()),
      ]);
    }
  });
});

describe("a server does not start", () => {
  const handler = async () => ({});
  test.each<[string, RoutePlugin]>([
    ["with a route that declares nothing", (app) => void app.get("/x", handler)],
    [
      "with a route that declares two things",
      (app) => void app.get("/x", { config: { public: true, operation: "atoms.list" } }, handler),
    ],
    ["with a public route that is not in the list", (app) => void app.get("/x", { config: { public: true } }, handler)],
    [
      "with a gateway's operation outside of a gateway",
      (app) => void app.get("/x", { config: { operation: "gateway.embeddings" } }, handler),
    ],
    [
      "with a memory operation inside of a gateway",
      (app) => void app.get("/g/:publicId/x", { config: { operation: "atoms.list" } }, handler),
    ],
  ])("%s", async (_name, routes) => {
    await expect(startHarness({ mounts: [{ at: "", routes }] })).rejects.toThrow(/^route GET /);
  });
});
