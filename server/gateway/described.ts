import { GATEWAY_OPERATIONS, isForwarded, type OperationRow } from "../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../domain/access/key-record.ts";
import type { ProblemCode } from "../http/problems/catalogue.ts";
import { operationIdOf } from "../openapi/describe-route.ts";
import type { Header, JsonSchema, MediaTypes, Operation, Parameter, Paths, ResponseObject } from "../openapi/format.ts";
import { RATE_HEADERS } from "../openapi/rate-headers.ts";
import { type RefusalBody, refusals } from "../openapi/refusals.ts";
import { BODY_REFUSALS, KEY_REFUSALS } from "../openapi/route-refusals.ts";
import { KEY_SECURITY } from "../openapi/security.ts";
import { SERVED_PATHS, type ServedPath } from "./classify.ts";
import { ERROR_SCHEMAS, errorSchema, MODEL_LIST_SCHEMAS, MODEL_SCHEMAS } from "./described-schemas.ts";
import { ROUTE_ID_HEADER } from "./headers/headers.ts";

/** Problems with which every path under `/g/` may refuse. */
const ALWAYS = [...KEY_REFUSALS, "upgrade_required"] as const satisfies readonly ProblemCode[];
/** Further problems with which a call that goes to an upstream may be refused. */
const FORWARDED = [
  "not_found",
  "bad_gateway",
  "upstream_credential_refused",
  "gateway_timeout",
] as const satisfies readonly ProblemCode[];

/**
 * Returns the gateway's operations by their paths, from the list that requests are classified by: no path is left out.
 */
export function gatewayPaths(): Paths {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const served of SERVED_PATHS) {
    const path = `/g/{publicId}/${served.path}`;
    paths[path] = { ...paths[path], [served.method.toLowerCase()]: describe(path, served) };
  }
  return paths;
}

function describe(path: string, { method, operation, dialect }: ServedPath): Operation {
  const row = GATEWAY_OPERATIONS[operation];
  const isAsked = isForwarded(row);
  return {
    tags: ["Gateway"],
    summary: row.summary,
    operationId: operationIdOf(method, path),
    parameters: parametersOf(path, dialect === undefined),
    ...(row.body !== "none" && { requestBody: { required: true, content: bodyOf(row) } }),
    responses: {
      200: isAsked ? passedOn(row) : models(row.answer === "route", dialect),
      ...refusals(refusedBy(row), errorBody(dialect, isAsked), { 429: RATE_HEADERS }),
      ...refusals(["uri_too_long"]),
      ...(isAsked && { default: UPSTREAM_STATUS }),
    },
    security: KEY_SECURITY,
  };
}

function refusedBy(row: OperationRow): readonly ProblemCode[] {
  if (!isForwarded(row)) return row.answer === "route" ? [...ALWAYS, "not_found"] : ALWAYS;
  return [...ALWAYS, ...(row.body === "none" ? ofQuery(row) : ofBody(row)), ...FORWARDED];
}

/** Returns the refusals of a query, which may name a model beside the path, or what no list has. */
function ofQuery({ models, kept }: OperationRow): readonly ProblemCode[] {
  return models === "unused" && kept?.listed === undefined ? [] : ["invalid_request"];
}

/** Returns the refusals of a body. What passes as it comes may come too slowly, and is not read. */
function ofBody({ models, kept }: OperationRow): readonly ProblemCode[] {
  return models === "unused" && kept?.referring === undefined && !kept?.resumes ? ["request_timeout"] : BODY_REFUSALS;
}

const TEXT = { type: "string" } as const;

function parametersOf(path: string, asksForShape: boolean): Parameter[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    ...({ name, in: "path", required: true, schema: TEXT } as const),
    description: IN_PATH[name] ?? "What the upstream keeps, by the name that it gave it.",
  }));
  return asksForShape ? [...inPath, ANTHROPIC_VERSION] : inPath;
}

const IN_PATH: Readonly<Record<string, string>> = {
  publicId: "The gateway's public id.",
  model: "A logical route, or a model of the upstream's.",
};

const ANTHROPIC_VERSION: Parameter = {
  name: "anthropic-version",
  in: "header",
  required: false,
  description:
    "Asks for Anthropic's shape; the vendor header or `?key=` as the key's carrier for Gemini's, else OpenAI's.",
  schema: TEXT,
};

function bodyOf({ body, models, example }: OperationRow): MediaTypes {
  const schema = models === "unused" ? KEPT_BODY : FORWARDED_BODY;
  return { [body === "form" ? "multipart/form-data" : "application/json"]: { schema, example } };
}

const FORWARDED_BODY: JsonSchema = {
  type: "object",
  description: "As the path's API takes it. The name of a logical route is replaced by its upstream's model.",
  properties: { model: { ...TEXT, description: "Where the path names none: a logical route, or a model." } },
};

const KEPT_BODY: JsonSchema = { type: "object", description: "As the path's API takes it." };

const ROUTE_ID: Readonly<Record<string, Header>> = {
  [ROUTE_ID_HEADER]: { description: "The logical route that the model named.", required: false, schema: TEXT },
};

const ANYTHING: MediaTypes = { "*/*": { schema: {} } };
const JSON_OR_EVENTS: MediaTypes = { "application/json": { schema: {} }, "text/event-stream": { schema: TEXT } };

function passedOn({ answer }: OperationRow): ResponseObject {
  return {
    description: "What the upstream answered, byte by byte.",
    headers: { ...ROUTE_ID, ...RATE_HEADERS },
    content: answer === "bytes" ? ANYTHING : answer === "media" ? { ...JSON_OR_EVENTS, ...ANYTHING } : JSON_OR_EVENTS,
  };
}

const UPSTREAM_STATUS: ResponseObject = {
  description: "Any other status that the upstream answered with, byte by byte.",
  content: ANYTHING,
};

function models(one: boolean, dialect: Dialect | undefined): ResponseObject {
  const schemas = one ? MODEL_SCHEMAS : MODEL_LIST_SCHEMAS;
  return {
    description: one ? "A logical route." : "The logical routes that the key may name.",
    headers: { ...(one ? ROUTE_ID : {}), ...RATE_HEADERS },
    content: {
      "application/json": { schema: dialect === undefined ? { anyOf: Object.values(schemas) } : schemas[dialect] },
    },
  };
}

/** Makes error bodies in the form of the path's API. An upstream's own refusal of the same status passes as it is. */
function errorBody(dialect: Dialect | undefined, isAsked: boolean): RefusalBody {
  return (status, codes): MediaTypes => {
    const dialects = dialect === undefined ? (Object.keys(ERROR_SCHEMAS) as Dialect[]) : [dialect];
    const own = dialects.map((each) => errorSchema(each, status, codes));
    const theirs = isAsked ? [{ description: "What the upstream answered." }] : [];
    const all = [...own, ...theirs];
    return { "application/json": { schema: all.length === 1 ? (all[0] ?? {}) : { anyOf: all } } };
  };
}
