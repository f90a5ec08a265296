import { GATEWAY_OPERATIONS } from "../../domain/access/gateway-operations.ts";
import type { Dialect, GatewayRecord, OperationKind } from "../../domain/access/key-record.ts";
import { listed } from "../http/listed.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { classify, type GatewayCall, SERVED_PATHS, type ServedPath } from "./classify.ts";

const METHODS = [...new Set(SERVED_PATHS.map(({ method }) => method))];
/** Segments at most of a path that is compared: a longer path is near to none that is served. */
const MAX_SEGMENTS = 8;
/** Characters at most of a path that is compared: each comparison reads all of it. */
const MAX_LENGTH = 1024;
/** Pattern of a text that stands where a model's id does, but is a path, or an action on a model. */
const BEYOND_ID = /\/|:[A-Za-z]+$/;
/** Base URL that the clients of each format take, behind `/g/<public id>`. */
const BASE_URLS: Readonly<Record<Dialect, string>> = {
  openai: "OpenAI's SDKs take a base URL that ends in /v1",
  anthropic: "Anthropic's SDKs take a base URL that ends in the public id, and @ai-sdk/anthropic one that ends in /v1",
  gemini: "Google's SDKs take a base URL that ends in the public id, and @ai-sdk/google one that ends in /v1beta",
};

/**
 * Returns the answer to a request that is no operation of the gateway (spec §4): which paths this gateway serves, and
 * which of them is nearest to the request's. It repeats nothing of the path, since a key may stand in it.
 *
 * @param asked the method of the request
 * @param rawPath the undecoded path behind `/g/<public id>/`; empty if there is none
 */
export function unservedPath(gateway: GatewayRecord, asked: string, rawPath = ""): Problem {
  const spoken = spokenBy(gateway);
  const unserved = servedCall(asked, asked, rawPath);
  if (unserved !== undefined) return unservedKind(gateway, GATEWAY_OPERATIONS[unserved.operation].kind);
  const allowed = METHODS.filter((method) => {
    const call = servedCall(asked, method, rawPath);
    return call !== undefined && isServed({ ...call, dialect: undefined }, spoken);
  });
  if (allowed.length > 0) {
    const allow = allowed.join(", ");
    return problem("not_found", `This path is served to ${allow} alone. ${pathsOf(spoken)}`, { allow });
  }
  const nearest = nearestTo(asked, rawPath, spoken);
  return problem(
    "not_found",
    ["There is nothing at this path.", ...(nearest ? [adviceOn(nearest, gateway)] : []), pathsOf(spoken)].join(" "),
  );
}

/**
 * Finds the served path that is nearest: without surplus slashes, without what stands in front of it, and with a
 * version. undefined if no upstream speaks its format, which would lead to the next refusal.
 */
function nearestTo(asked: string, rawPath: string, spoken: Spoken): GatewayCall | undefined {
  if (rawPath.length > MAX_LENGTH) return undefined;
  const segments = rawPath.split("/").filter((segment) => segment !== "");
  if (segments.length > MAX_SEGMENTS) return undefined;
  const rests = segments.map((_segment, skipped) => segments.slice(skipped).join("/"));
  const candidates = rests.flatMap((rest) => [rest, `v1/${rest}`, `v1beta/${rest}`]);
  for (const candidate of candidates) {
    for (const method of METHODS) {
      const call = servedCall(asked, method, candidate);
      if (call !== undefined) return isServed(call, spoken) ? call : undefined;
    }
  }
  return undefined;
}

/**
 * Classifies a path under a method. A model that is read may have any id, so nearly every path behind `models/` names
 * one: a POST to a path that goes beyond an id asks for something else.
 */
function servedCall(asked: string, method: string, path: string): GatewayCall | undefined {
  const call = classify(method, path);
  const isRead = call !== undefined && GATEWAY_OPERATIONS[call.operation].answer === "route";
  return isRead && asked === "POST" && BEYOND_ID.test(call.model ?? "") ? undefined : call;
}

function adviceOn({ method, servedPath, dialect = "openai" }: GatewayCall, { publicId }: GatewayRecord): string {
  return `The nearest is ${method} /g/${publicId}/${servedPath}: ${BASE_URLS[dialect]}.`;
}

/** Kinds of calls that a gateway serves, and its upstreams' formats, with undefined for paths that formats share. */
type Spoken = { readonly kinds: ReadonlySet<OperationKind>; readonly dialects: ReadonlySet<Dialect | undefined> };

function spokenBy({ upstreams, operations }: GatewayRecord): Spoken {
  return { kinds: new Set(operations), dialects: new Set([undefined, ...upstreams.map(({ dialect }) => dialect)]) };
}

function isServed(
  { operation, dialect }: Pick<ServedPath, "operation" | "dialect">,
  { kinds, dialects }: Spoken,
): boolean {
  return dialects.has(dialect) && kinds.has(GATEWAY_OPERATIONS[operation].kind);
}

/** Returns the answer to a call of a kind that the gateway does not name. */
export function unservedKind({ operations }: GatewayRecord, kind: OperationKind): Problem {
  return problem(
    "not_found",
    `This gateway does not serve ${kind}: have ${kind} added to its spec.operations, which are ${listed(operations)}.`,
  );
}

/** Lists the paths of the formats that the upstreams speak, and the paths that the gateway answers by itself. */
function pathsOf(spoken: Spoken): string {
  const known = SERVED_PATHS.filter((path) => isServed(path, spoken));
  const isStable = ({ method, path }: ServedPath) =>
    known.some((other) => other.method === method && other.path === path.replace("v1beta/", "v1/"));
  const served = known.filter((one) => one.path.startsWith("v1/") || !isStable(one));
  const lists = METHODS.flatMap((method) => {
    const paths = served.filter((one) => one.method === method).map(({ path }) => path);
    return paths.length === 0 ? [] : [`${method} ${paths.map(abbreviated).join(", ")}`];
  });
  const versions = spoken.dialects.has("gemini") ? " Under v1beta it serves the paths of models too." : "";
  return `This gateway serves ${lists.join("; ")}.${versions}`;
}

/** Returns a path as it is listed: of several actions on a model, only the first has the model's path in front. */
function abbreviated(path: string, at: number, paths: readonly string[]): string {
  const colon = path.indexOf(":");
  return colon !== -1 && paths[at - 1]?.startsWith(path.slice(0, colon + 1)) ? path.slice(colon) : path;
}
