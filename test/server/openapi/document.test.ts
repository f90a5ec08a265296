import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RoutePlugin } from "../../../server/app.ts";
import { PRODUCTS } from "../../../server/products.ts";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/engines.ts";
import { makeTeam, reserveKey } from "../../store/fixtures.ts";
import { startHarness } from "../harness.ts";
import { type Api, startApi } from "../management/api.ts";

type Parameter = { name: string; in: string; required: boolean; schema: object };
type Operation = {
  operationId: string;
  summary: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
  security: Record<string, string[]>[];
};
type Description = {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
};

let store: Store;
let api: Api;
let description: Description;
let operations: { path: string; method: string; operation: Operation }[];
beforeAll(async () => {
  store = await openMigrated();
  api = await startApi(store);
  description = JSON.parse(await (await fetch(`${api.url}/openapi.json`)).text());
  operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
});
afterAll(async () => {
  await api.close();
  await store.close();
});

/** The schemas of the document as a validator of draft 2020-12, which OpenAPI 3.1 speaks, finds them. */
function compile(schema: object): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, validateFormats: true });
  formats.default(ajv, ["date-time", "int32", "int64"]);
  ajv.addKeyword("components");
  return ajv.compile({ ...schema, components: description.components });
}

describe("/openapi.json", () => {
  test("describes every route of the management API and of the memory, and no others", async () => {
    const served = new Set<string>();
    const mounts = PRODUCTS.map(({ at, routes: add }) => ({
      at,
      routes: ((app, deps) => {
        app.addHook("onRoute", ({ method, url, config }) => {
          const isOurs =
            config?.management === true || /^(atoms|key)\./.test(String(config?.operation)) || url === "/api/v1/leaks";
          if (!isOurs || config?.allow !== undefined) return;
          for (const name of [method].flat()) served.add(`${name} ${url.replace(/:(\w+)/g, "{$1}")}`);
        });
        return add(app, deps);
      }) satisfies RoutePlugin,
    }));
    const harness = await startHarness({ mounts });
    await harness.close();
    expect(served.size).toBeGreaterThan(35);
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort()).toEqual([...served].sort());
  });

  test("is OpenAPI 3.1 as its specification has it, as far as it uses it", () => {
    expect(description.openapi).toMatch(/^3\.1\.\d+$/);
    expect(description.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(Object.keys(description).sort()).toEqual(["components", "info", "openapi", "paths"]);
    for (const { path, method, operation } of operations) {
      expect(path).toMatch(/^\//);
      expect(["get", "post", "put", "patch", "delete"]).toContain(method);
      expect(operation.summary).not.toBe("");
      const inPath = operation.parameters.filter((parameter) => parameter.in === "path");
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }) => required)).toBe(true);
      const named = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(named).size).toBe(named.length);
      expect(Object.keys(operation.responses)).toEqual([expect.stringMatching(/^2\d\d$/), "default"]);
      for (const scheme of operation.security.flatMap((one) => Object.keys(one))) {
        expect(description.components.securitySchemes).toHaveProperty([scheme]);
      }
    }
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const name of Object.keys(description.components.schemas)) expect(name).toMatch(/^[A-Za-z0-9._-]+$/);
  });

  test("has schemas that are sound, and no reference that leads nowhere", () => {
    for (const { operation } of operations) {
      for (const { schema } of operation.parameters) compile(schema);
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) compile(schema);
      for (const { content = {} } of Object.values(operation.responses)) {
        for (const { schema } of Object.values(content)) compile(schema);
      }
    }
  });

  test("says truly what is answered", async () => {
    const team = await makeTeam(store);
    const judge = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const answer = await api.send(method, path, body, headers);
      hold(method, `/api/v1${path}`, answer.status, answer.body);
      return answer.body;
    };
    const ifMatch = { "if-match": "*" };
    const spec = { preset: "MCPReadWrite", expiresAfter: "1h" };
    await judge("POST", "/teams", { name: "described", spec: { members: [{ role: "admin", group: "g" }] } });
    const library = await judge("POST", "/libraries", { name: "l", team: team.name, spec: {} });
    const upstreams = [{ name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" }];
    const routes = [{ model: "m", routeID: "r", upstream: "u", upstreamModel: "m" }];
    const gateway = await judge("POST", "/gateways", { name: "g", team: team.name, spec: { upstreams, routes } });
    const key = await judge("POST", "/keys", { name: "k", team: team.name, spec });
    const declared = (await reserveKey(store, team)).key;
    await judge("POST", `/keys/${key.id}/versions`, { overlap: "1h" });
    await judge("PUT", `/keys/${key.id}`, { spec: { ...spec, mcpDefaultLibraryRef: { name: "l" } } }, ifMatch);
    await judge("PUT", `/libraries/${library.id}`, { spec: { description: "d" } }, ifMatch);
    await judge("POST", `/keys/${declared.id}/rotate`);
    await judge("POST", `/keys/${declared.id}/revoke`);
    for (const path of ["/keys", "/teams", "/libraries", "/gateways"]) await judge("GET", path);
    for (const path of [`/keys/${declared.id}`, `/gateways/${gateway.id}`, `/teams/${team.teamId}`])
      await judge("GET", path);
    await judge("POST", "/leaks", { leaks: [{ key: key.secret }, { key: "inf_nothing" }] });
    await judge("POST", "/leaks", {});
    await judge("GET", "/keys/key_a");
    await judge("POST", "/keys", { name: "k", team: team.name, spec: {} });

    const atoms = async (method: string, path: string, body?: unknown) => {
      const headers = { "x-api-key": key.secret, "content-type": "application/json" };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(api.url + path, { method, headers, ...text });
      const json = answer.status === 204 ? undefined : JSON.parse(await answer.text());
      hold(method, path, answer.status, json);
      return json;
    };
    const atom = await atoms("POST", "/atoms", { content: "remember this", tags: ["t"] });
    await atoms("PATCH", "/atoms", { id: atom.id, revision: atom.revision, content: "remember that" });
    for (const path of ["/atoms", "/atoms/search?q=remember", `/atoms/${atom.id}`, `/atoms/${atom.id}/revisions`]) {
      await atoms("GET", path);
    }
    await atoms("GET", "/api/v1/whoami");
    await atoms("DELETE", `/api/v1/memory/atoms/${atom.id}`);
    await judge("DELETE", `/keys/${key.id}`);
    await judge("DELETE", `/gateways/${gateway.id}`);
  });
});

/** Holds an answer to what is said of its operation. */
function hold(method: string, target: string, status: number, body: unknown): void {
  const [path = ""] = target.split("?");
  const found = operations.find(
    (one) =>
      one.method === method.toLowerCase() &&
      new RegExp(`^${one.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path) &&
      !(one.path.includes("{") && description.paths[path]),
  );
  const answer = found?.operation.responses[status] ?? found?.operation.responses.default;
  expect(answer, `${method} ${path}`).toBeDefined();
  const [media] = Object.values(answer?.content ?? {});
  if (media === undefined) {
    expect(body).toBeUndefined();
    return;
  }
  const validate = compile(media.schema);
  expect([validate(body), validate.errors], `${method} ${path}: ${JSON.stringify(body)}`).toEqual([true, null]);
}
