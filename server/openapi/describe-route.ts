import type { FastifySchema, RouteOptions } from "fastify";
import { SUBJECT_FORM } from "../../domain/access/subject.ts";
import { areaOf } from "./areas.ts";
import { type Header, isSchema, type Operation, type Parameter, type ResponseObject } from "./format.ts";
import { RATE_HEADERS } from "./rate-headers.ts";
import { refusals } from "./refusals.ts";
import type { RouteDocs } from "./route-docs.ts";
import { isOfMemory, refusalsOf } from "./route-refusals.ts";
import { KEY_SECURITY, managementSecurity } from "./security.ts";

/** Returns a route's path as OpenAPI writes it. */
export function templateOf(url: string): string {
  return url.replace(/:(\w+)/g, "{$1}");
}

/** Returns the id by which programs call an operation: its method and its path in one word. */
export function operationIdOf(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase())}`;
}

/** Returns the description of an operation from its route. */
export function describeRoute(route: RouteOptions, docs: RouteDocs, method: string): Operation {
  const { url, schema = {}, config } = route;
  const path = templateOf(url);
  const { summary, status = 200 } = docs;
  const isKeyed = config?.operation !== undefined;
  return {
    tags: [areaOf(path)],
    summary,
    operationId: operationIdOf(method, url),
    parameters: [
      ...pathParameters(url),
      ...queryParameters(schema),
      ...headerParameters(docs, isOfMemory(config?.operation)),
    ],
    ...(isSchema(schema.body) && {
      requestBody: {
        required: "required" in schema.body,
        content: {
          "application/json": { schema: schema.body, ...(docs.example !== undefined && { example: docs.example }) },
        },
      },
    }),
    responses: {
      [status]: success(docs, isKeyed),
      ...(typeof docs.idempotent === "object" && { 200: replayed(docs.idempotent.replay) }),
      ...refusals(refusalsOf(route, docs, method), undefined, isKeyed ? { 429: RATE_HEADERS } : {}),
    },
    security: config?.management ? managementSecurity(method) : isKeyed ? KEY_SECURITY : [],
  };
}

function success(
  { response, mediaType = "application/json", ifMatch, etag, idempotent }: RouteDocs,
  isKeyed: boolean,
): ResponseObject {
  const headers = {
    ...(etag || idempotent === true || ifMatch === "required" ? { ETag: ETAG } : {}),
    ...(idempotent === true ? { Location: LOCATION, "Idempotency-Replayed": REPLAYED } : {}),
    ...(isKeyed ? RATE_HEADERS : {}),
  };
  return {
    description: response === undefined ? "Done." : response.title,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(response && { content: { [mediaType]: { schema: response } } }),
  };
}

/** Describes the answer to a repeated request, for an operation that a key opens. */
function replayed(schema: NonNullable<RouteDocs["response"]>): ResponseObject {
  return {
    description: `${schema.title}: it was made before, by the same Idempotency-Key.`,
    headers: { "Idempotency-Replayed": { ...REPLAYED, required: true }, ...RATE_HEADERS },
    content: { "application/json": { schema } },
  };
}

const TEXT = { type: "string" } as const;
const ETAG: Header = { description: "What a change of it names in If-Match.", required: true, schema: TEXT };
const LOCATION: Header = { description: "The path of what was made.", required: true, schema: TEXT };
const REPLAYED: Header = {
  description: "`true` where it was made before.",
  required: false,
  schema: { const: "true" },
};

function pathParameters(url: string): Parameter[] {
  return [...url.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({ name, in: "path", required: true, schema: TEXT }));
}

/** Describes the parameters of a query, except `key`, which carries a credential and is described as one. */
function queryParameters({ querystring }: FastifySchema): Parameter[] {
  if (!isSchema(querystring)) return [];
  const required = Array.isArray(querystring.required) ? querystring.required : [];
  const named = Object.entries(isSchema(querystring.properties) ? querystring.properties : {})
    .filter(([name]) => name !== "key")
    .map(
      ([name, schema]): Parameter => ({
        name,
        in: "query",
        required: required.includes(name),
        schema: isSchema(schema) ? schema : {},
      }),
    );
  // An object in a query is a parameter for each of its members, by the member's name.
  const patterns = isSchema(querystring.patternProperties) ? querystring.patternProperties : {};
  const others = Object.entries(patterns).map(
    ([pattern, schema]): Parameter => ({
      name: pattern.replaceAll(/\W/g, ""),
      in: "query",
      required: false,
      schema: { type: "object", additionalProperties: false, patternProperties: { [pattern]: schema } },
    }),
  );
  return [...named, ...others];
}

function headerParameters({ ifMatch, idempotent }: RouteDocs, isOfMemory: boolean): Parameter[] {
  const headers: Parameter[] = [];
  if (isOfMemory) {
    headers.push({
      name: "X-Keyplane-Subject",
      in: "header",
      required: false,
      description: "Whose memory is meant: needed for a key with `subjectAccess` of mode `Required`.",
      schema: SUBJECT_FORM,
    });
  }
  if (ifMatch !== undefined) {
    headers.push({
      name: "If-Match",
      in: "header",
      required: ifMatch === "required",
      description: "The ETag that was read, or * for whatever there is.",
      schema: TEXT,
    });
  }
  if (idempotent) {
    headers.push({
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description:
        "Repeated within 24 hours, the request makes nothing twice. Double quotes around it are no part of it.",
      schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
    });
  }
  return headers;
}
