import type { FastifyInstance, FastifySchema, HTTPMethods, RouteOptions } from "fastify";
import { PROBLEMS } from "../http/errors.ts";

/** A JSON Schema, as far as it is passed on here. */
type JsonSchema = Readonly<Record<string, unknown>>;

/** What a route says of itself besides the schemas of what it takes. */
export type RouteDocs = {
  readonly summary: string;
  /** Of a success; 200 where it is left out. */
  readonly status?: number;
  /** The body of its response; none where it is left out. A named one is described once. */
  readonly response?: JsonSchema & { readonly title: string };
  readonly ifMatch?: "required" | "optional";
  /** Whether it may be repeated with an Idempotency-Key. */
  readonly idempotent?: true;
};

declare module "fastify" {
  interface FastifyContextConfig {
    docs?: RouteDocs;
  }
}

/**
 * Collects what the routes that are registered from here on say of themselves.
 *
 * @returns gives the OpenAPI 3.1 document of all of them
 */
export function collectDocs(app: FastifyInstance, vendorHeader: string): () => object {
  const paths: Record<string, Record<string, object>> = {};
  const schemas: Record<string, JsonSchema> = { Problem: PROBLEM };
  app.addHook("onRoute", (route) => {
    const { docs, management, public: open } = route.config ?? {};
    if (docs === undefined) return;
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    for (const method of [route.method].flat()) {
      const operation = describe(route, docs, method, schemas);
      const managed = [{ managementToken: [] }, ...(open ? [{}] : [])];
      const security = management || open ? managed : KEY_CARRIERS.map((name) => ({ [name]: [] }));
      paths[path] = { ...paths[path], [method.toLowerCase()]: { ...operation, security } };
    }
  });
  return () => ({
    openapi: "3.1.0",
    info: {
      title: "Keyplane",
      version: "v1",
      summary: "Keys of an AI platform: their management, and the memory that they open.",
    },
    paths,
    components: { schemas, securitySchemes: securitySchemes(vendorHeader) },
  });
}

const KEY_CARRIERS = ["vendorHeader", "bearerKey", "apiKeyHeader"] as const;

function securitySchemes(vendorHeader: string): object {
  return {
    managementToken: {
      type: "http",
      scheme: "bearer",
      description: "The installation's token, or a JWT of a configured issuer.",
    },
    vendorHeader: { type: "apiKey", in: "header", name: vendorHeader },
    bearerKey: { type: "http", scheme: "bearer", description: "An API key." },
    apiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key" },
  };
}

function describe(
  { url, schema = {} }: RouteOptions,
  docs: RouteDocs,
  method: HTTPMethods,
  schemas: Record<string, JsonSchema>,
): object {
  const { summary, status = 200, response } = docs;
  return {
    summary,
    operationId: `${method.toLowerCase()}${url.replace(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase())}`,
    parameters: [...pathParameters(url), ...queryParameters(schema), ...headerParameters(docs)],
    ...(isSchema(schema.body) && {
      requestBody: {
        required: "required" in schema.body,
        content: { "application/json": { schema: schema.body } },
      },
    }),
    responses: {
      [status]: {
        description: response === undefined ? "Done." : response.title,
        ...(response && { content: { "application/json": { schema: refer(response, schemas) } } }),
      },
      default: {
        description: "A refusal",
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

/** Puts every schema with a title among the named ones, and gives the references to them. */
function refer(value: unknown, schemas: Record<string, JsonSchema>): unknown {
  if (Array.isArray(value)) return value.map((item) => refer(item, schemas));
  if (!isSchema(value)) return value;
  const { title } = value;
  const named = typeof title === "string";
  if (named && schemas[title] !== undefined) return { $ref: `#/components/schemas/${title}` };
  const parts = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, refer(part, schemas)]));
  if (!named) return parts;
  schemas[title] = parts;
  return { $ref: `#/components/schemas/${title}` };
}

function pathParameters(url: string): object[] {
  return [...url.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

/** But for `key`, a credential's carrier, which is described as one. */
function queryParameters({ querystring }: FastifySchema): object[] {
  if (!isSchema(querystring)) return [];
  const required = Array.isArray(querystring.required) ? querystring.required : [];
  return Object.entries(isSchema(querystring.properties) ? querystring.properties : {})
    .filter(([name]) => name !== "key")
    .map(([name, schema]) => ({ name, in: "query", required: required.includes(name), schema }));
}

function headerParameters({ ifMatch, idempotent }: RouteDocs): object[] {
  const headers: object[] = [];
  if (ifMatch !== undefined) {
    headers.push({
      name: "If-Match",
      in: "header",
      required: ifMatch === "required",
      description: "The ETag that was read, or * for whatever there is.",
      schema: { type: "string" },
    });
  }
  if (idempotent) {
    headers.push({
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description: "Repeated within 24 hours, the request makes nothing twice.",
      schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
    });
  }
  return headers;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}

/** RFC 9457, with the members of ours. */
const PROBLEM: JsonSchema = {
  title: "Problem",
  type: "object",
  required: ["type", "title", "status", "code", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", enum: Object.keys(PROBLEMS) },
    detail: { type: "string" },
    id: { type: "string", description: "With exists and idempotency_mismatch: what is there." },
    errors: {
      type: "array",
      description: "With invalid: each field with what to write instead.",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
  },
};
