import { afterAll, beforeAll, expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { classify, SERVED_PATHS } from "../../../server/gateway/classify.ts";
import type { OpenApiDocument } from "../../../server/openapi/format.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { type Harness, startHarness } from "../harness.ts";
import { type Described, Judge, operationsOf } from "./described.ts";
import { metaFaultsOf } from "./meta-schema.ts";

const TOKEN = "kpt_the-token";

let harness: Harness;
let document: OpenApiDocument;
let operations: Described[];
beforeAll(async () => {
  harness = await startHarness({
    mounts: products(),
    config: { vendorHeader: "x-acme-api-key" },
    managementToken: managementToken("bootstrap-token", TOKEN),
  });
  document = JSON.parse(await (await fetch(`${harness.url}/openapi.json`)).text());
  operations = operationsOf(document);
});
afterAll(() => harness.close());

test("/openapi.json is OpenAPI 3.1, by its own schema", () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  expect(metaFaultsOf(document)).toEqual([]);
  expect(metaFaultsOf({ ...document, openapi: undefined })).not.toEqual([]);
});

test("/openapi.json names each operation once, its parameters as its path has them, and what opens it", () => {
  const tags = document.tags.map(({ name }) => name);
  for (const { name, path, operation } of operations) {
    const { parameters, security, responses, summary } = operation;
    expect(summary).not.toBe("");
    expect(tags).toContain(operation.tags[0]);
    const inPath = parameters.filter((parameter) => parameter.in === "path");
    expect([name, inPath.map((one) => `{${one.name}}`)]).toEqual([name, path.match(/\{\w+\}/g) ?? []]);
    const named = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(new Set(named).size).toBe(named.length);
    for (const scheme of security.flatMap((one) => Object.keys(one))) {
      expect(document.components.securitySchemes).toHaveProperty([scheme]);
    }
    expect(Object.keys(responses).filter((status) => status.startsWith("2"))).not.toEqual([]);
  }
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test("/openapi.json has schemas that are sound, examples that they take, and no name that nothing refers to", () => {
  const judge = new Judge(document);
  for (const { name, operation } of operations) {
    const { parameters, requestBody, responses } = operation;
    for (const { schema } of parameters) judge.compile(schema);
    for (const { schema, example } of Object.values(requestBody?.content ?? {})) {
      const validate = judge.compile(schema);
      if (example !== undefined) expect([name, validate(example), validate.errors]).toEqual([name, true, null]);
    }
    for (const { content = {} } of Object.values(responses)) {
      for (const { schema } of Object.values(content)) judge.compile(schema);
    }
  }
  const text = JSON.stringify(document);
  const unused = Object.keys(document.components.schemas).filter(
    (name) => !text.includes(`"#/components/schemas/${name}"`),
  );
  expect(unused).toEqual([]);
});

/** What generators of clients make no sound code of, each with its place. */
function ungenerated(value: unknown, place = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, const: constant, enum: values } = value as { type?: unknown; const?: unknown; enum?: unknown };
  const kinds = Array.isArray(values) ? new Set(values.map((each) => (each === null ? "null" : typeof each))) : [];
  return [
    ...(Array.isArray(type) ? [`${place}: types ${type}`] : []),
    ...(typeof constant === "boolean" || constant === null ? [`${place}: constant ${constant}`] : []),
    ...([...kinds].some((kind) => !["string", "number"].includes(kind)) ? [`${place}: values ${values}`] : []),
    ...Object.entries(value).flatMap(([name, part]) =>
      name === "example" ? [] : ungenerated(part, `${place}/${name}`),
    ),
  ];
}

test("/openapi.json has one type in each place, and names values that are texts or numbers: generators of clients know no others", () => {
  expect(ungenerated(document)).toEqual([]);
  const odd = {
    a: { type: ["string", "null"] },
    b: { const: true },
    c: { enum: [1, null] },
    d: { const: "a", type: "string" },
  };
  expect(ungenerated(odd)).toEqual(["/a: types string,null", "/b: constant true", "/c: values 1,"]);
});

test("/openapi.json has an example of every body that is wanted", () => {
  const without = operations.filter(({ operation: { requestBody } }) =>
    Object.values(requestBody?.content ?? {}).some(({ example }) => example === undefined),
  );
  expect(without.map(({ name }) => name)).toEqual([]);
});

test("/openapi.json names every carrier of a key, the vendor's header as it is configured", () => {
  const { securitySchemes } = document.components;
  expect(securitySchemes.vendorHeader).toMatchObject({ type: "apiKey", in: "header", name: "x-acme-api-key" });
  expect(securitySchemes.queryKey).toMatchObject({ type: "apiKey", in: "query", name: "key" });
  expect(securitySchemes.session).toMatchObject({ type: "apiKey", in: "cookie", name: "keyplane_session" });
  const opens = document.paths["/atoms"]?.get?.security.flatMap((one) => Object.keys(one));
  expect(opens?.toSorted()).toEqual(["apiKeyHeader", "bearerKey", "queryKey", "vendorHeader"]);
});

const INFINITE = ["Infinity", "1e400", "-Infinity", "9".repeat(400), "NaN"];

test("b323: a number of a query that is not finite is 400, at every operation that takes one", async () => {
  const key = harness.addKey();
  const numbered = operations.flatMap(({ name, method, path, operation: { parameters, security } }) =>
    parameters
      .filter((one) => one.in === "query" && ["integer", "number"].includes(String(one.schema.type)))
      .map((one) => ({
        ...{ name, method, path, number: one.name },
        others: parameters.filter((one) => one.in === "query" && one.required).map((other) => `&${other.name}=x`),
        isKeyed: security.some((by) => "bearerKey" in by),
      })),
  );
  const lists = numbered.filter(({ number }) => number === "limit");
  expect(lists.length).toBeGreaterThan(12);
  expect(numbered.length).toBeGreaterThan(2 * INFINITE.length);
  for (const [at, { name, method, path, number, others, isKeyed }] of numbered.entries()) {
    // By day each operation meets one of them: they all read their numbers alike.
    for (const value of NIGHTLY ? INFINITE : [INFINITE[at % INFINITE.length]]) {
      const url = `${harness.url}${path.replaceAll(/\{\w+\}/g, "x")}?${number}=${value}${others.join("")}`;
      const answer = await fetch(url, { method, headers: { authorization: `Bearer ${isKeyed ? key : TOKEN}` } });
      const { detail } = JSON.parse(await answer.text());
      expect([name, value, answer.status, detail]).toEqual([
        name,
        value,
        400,
        expect.stringContaining(`"${number}" must be`),
      ]);
    }
  }
});

test.for(SERVED_PATHS)("/openapi.json describes $method $path, which the gateway takes for $operation", (served) => {
  const { method, path, operation } = served;
  expect(classify(method, path.replaceAll(/\{\w+\}/g, "a-name"))?.operation).toBe(operation);
  expect(document.paths[`/g/{publicId}/${path}`]).toHaveProperty([method.toLowerCase()]);
});

test("/openapi.json is sent once to a client that keeps it", async () => {
  const first = await fetch(`${harness.url}/openapi.json`);
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  const again = await fetch(`${harness.url}/openapi.json`, { headers: { "if-none-match": `"other", W/${etag}` } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});
