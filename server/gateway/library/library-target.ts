import { GATEWAY_OPERATIONS } from "../../../domain/access/gateway-operations.ts";
import type { Dialect, GatewayRecord, KeyRecord } from "../../../domain/access/key-record.ts";
import { decideForKey } from "../../auth/decide.ts";
import { Problem } from "../../http/problems/problem.ts";
import type { ServerDeps } from "../../product/deps.ts";
import { isSameUpstream, type Resolved, resolve } from "../resolve.ts";
import { mayBeAsked, type ReachableUpstream } from "../upstream/pools.ts";
import type { CallFormat, CallFormats } from "./call-format.ts";
import { concurrencyFailure, type FailedCall, failedCall } from "./failed-call.ts";

/** Key, gateway and model that a library calls with. */
export type LibraryModel = {
  /** Digest of the key, which no caller presents. */
  readonly digest: string;
  readonly publicId: string;
  readonly model: string;
};

/** Key, upstream, model and format of a call that may be made. */
export type LibraryTarget<F> = {
  readonly key: KeyRecord;
  readonly gatewayId: string;
  readonly routeId: string | undefined;
  readonly limits: Resolved["limits"];
  readonly upstream: ReachableUpstream;
  readonly model: string;
  readonly format: F;
};

type TargetDeps = Pick<ServerDeps, "index" | "streams" | "clock">;

/**
 * Decides a call again that has waited for its connection.
 *
 * @returns why it may not go where it was to go; undefined if it may
 */
export function refusalOfTarget<F extends CallFormat>(
  deps: TargetDeps,
  formats: CallFormats<F>,
  asked: LibraryModel,
  target: LibraryTarget<F>,
): FailedCall | undefined {
  const now = findLibraryTarget(deps, formats, asked, true);
  if ("kind" in now) return now;
  const isSame = now.model === target.model && now.format === target.format && now.gatewayId === target.gatewayId;
  return isSame && isSameUpstream(now.upstream, target.upstream) ? undefined : MOVED;
}

const MOVED = failedCall("the gateway has come to lead elsewhere while its upstream was connected to");

/**
 * Decides a call as a request with the library's key is decided, and finds its upstream.
 *
 * @param isCounted true if the call is under way already, and counts among those of its key
 */
export function findLibraryTarget<F extends CallFormat>(
  deps: TargetDeps,
  formats: CallFormats<F>,
  { digest, publicId, model }: LibraryModel,
  isCounted = false,
): LibraryTarget<F> | FailedCall {
  const { index, streams } = deps;
  if (!index.isCurrent()) return failedCall("this server cannot prove at present that the library's key may be used");
  const found = index.findKey(digest);
  const gateway = index.findGateway(publicId);
  const dialect = gateway && dialectOf(gateway, model, formats);
  const format = dialect && formats[dialect];
  // No client asks: the team's networks are those of its callers.
  const judged = decideForKey(deps, found, { product: "gateway", operation: format?.operation, publicId }, null);
  if ("granted" in judged) {
    if (judged.code === "not_found") {
      if (format === undefined) {
        return failedCall(`the gateway has no upstream that speaks ${Object.keys(formats).join(" or ")}`);
      }
      const { kind } = GATEWAY_OPERATIONS[format.operation];
      return failedCall(`the gateway does not serve ${kind}: add ${kind} to its spec.operations`);
    }
    return failedCall(`the library's key is refused at its gateway (${judged.cause})`);
  }
  const { key } = judged;
  if (dialect === undefined || format === undefined || judged.gateway === null)
    return failedCall("the gateway is gone");
  const full = isCounted ? undefined : streams.fullOf(key);
  if (full !== undefined) return concurrencyFailure(full);
  // The declaration names the route: no caller does.
  const resolving = { allowedModels: key.allowedModels, mayResolveRoutes: true };
  const resolved = resolve(judged.gateway, resolving, dialect, model);
  if (resolved instanceof Problem) return failedCall(`the gateway does not serve the model: ${resolved.detail}`);
  const [candidate] = resolved.candidates;
  const { upstream } = candidate;
  if (!mayBeAsked(upstream)) return failedCall("the gateway has no credential for the upstream");
  const { gatewayId } = judged.gateway;
  return {
    key,
    gatewayId,
    routeId: resolved.routeId,
    limits: resolved.limits,
    upstream,
    model: candidate.model ?? model,
    format,
  };
}

/** Returns the dialect of the route that the model names, else of the first upstream that can do what is asked. */
function dialectOf<F extends CallFormat>(
  { routes, upstreams }: GatewayRecord,
  model: string,
  formats: CallFormats<F>,
): Dialect | undefined {
  const named = routes.find((route) => route.model === model);
  const upstream = upstreams.find(({ name, dialect }) =>
    named === undefined ? formats[dialect] !== undefined : name === named.upstream,
  );
  return upstream?.dialect;
}
