import { type OwnedLimits, routeLimits } from "../../domain/access/declared-limits.ts";
import type { Dialect, GatewayRecord, RouteRecord, UpstreamRecord } from "../../domain/access/key-record.ts";
import { listed } from "../http/listed.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { nameableRoutes } from "./model/models.ts";

/** One upstream to ask, and the model to ask of it; undefined where the client's own words stay as they are. */
export type UpstreamCandidate = { readonly upstream: UpstreamRecord; readonly model: string | undefined };

/** Where a call goes: the first candidate, and the ones to try when it fails. */
export type Resolved = {
  readonly candidates: readonly [UpstreamCandidate, ...UpstreamCandidate[]];
  /** The id of the logical route that the model named. */
  readonly routeId: string | undefined;
  /** What all calls that name that route have together; undefined for no limit. */
  readonly limits: OwnedLimits | undefined;
};

/** What resolving needs to know of the key. */
export type ResolvingKey = { readonly allowedModels: readonly string[] | null; readonly mayResolveRoutes: boolean };

/** Whether the model that a body names can matter: else the body is not inspected (spec §4). */
export function needsModel(gateway: GatewayRecord, allowedModels: readonly string[] | null): boolean {
  return gateway.routes.length > 0 || gateway.routesOnly || allowedModels !== null;
}

/** Whether a key with these allowed models may name a model; with null any, and else none that is not known. */
export function mayName(allowedModels: readonly string[] | null, model: string | undefined): boolean {
  return allowedModels === null || (model !== undefined && allowedModels.includes(model));
}

/**
 * Finds the upstream for a call (spec §4). Pure.
 *
 * @param model the model that the path or the body names; undefined where it names none, or where none can matter
 * @returns the problem to answer where the call goes nowhere
 */
export function resolve(
  gateway: GatewayRecord,
  key: ResolvingKey,
  dialect: Dialect,
  model: string | undefined,
): Resolved | Problem {
  const { allowedModels } = key;
  if (allowedModels !== null && !mayName(allowedModels, model)) {
    return problem("forbidden", `This key may not use this model. Its allowed models are: ${listed(allowedModels)}.`);
  }
  const route = model === undefined ? undefined : gateway.routes.find((each) => each.model === model);
  if (route !== undefined) {
    if (!key.mayResolveRoutes) {
      return problem("forbidden", "This model names a logical route; the key lacks the scope gateway:routes.");
    }
    return resolveRoute(gateway, route, dialect);
  }
  const upstream = gateway.upstreams.find((each) => each.dialect === dialect);
  if (upstream === undefined) return unspoken(gateway, dialect);
  if (gateway.routesOnly) {
    return model === undefined
      ? problem(
          "invalid_request",
          `${ROUTES_ONLY}: the request must name one as its model.${routesFor(gateway, key, dialect)}`,
        )
      : problem("not_found", `${ROUTES_ONLY}, and the model is none of them.${routesFor(gateway, key, dialect)}`);
  }
  return { candidates: [{ upstream, model: undefined }], routeId: undefined, limits: undefined };
}

function unspoken({ upstreams }: GatewayRecord, dialect: Dialect): Problem {
  const spoken = [...new Set(upstreams.map((each) => each.dialect))];
  const instead = spoken.length === 0 ? "" : `use a client of a format that it speaks (${listed(spoken)}), or `;
  return problem("not_found", `This gateway has no upstream that speaks ${dialect}: ${instead}have one added.`);
}

const ROUTES_ONLY = "This gateway serves its logical routes alone";

/** The routes that a key may name in this format, where it has the scope that lists them. */
function routesFor(gateway: GatewayRecord, key: ResolvingKey, dialect: Dialect): string {
  if (!key.mayResolveRoutes) return " To name one takes the scope gateway:routes, which this key lacks.";
  const routes = nameableRoutes(gateway, key.allowedModels, dialect).map(({ model }) => model);
  return ` This key may name: ${routes.length === 0 ? `none in the ${dialect} format` : listed(routes)}.`;
}

/** Nothing is translated: a route leads to an upstream that speaks the path's own dialect, or it is refused. */
function resolveRoute(gateway: GatewayRecord, route: RouteRecord, dialect: Dialect): Resolved | Problem {
  const first = candidate(gateway, route);
  if (first === undefined) return problem("not_found", "The upstream of this logical route is gone.");
  if (first.upstream.dialect !== dialect) {
    const speaks = first.upstream.dialect;
    return problem(
      "invalid_request",
      `This logical route is served in the ${speaks} format, and this path is ${dialect}'s: call it with a client of the ${speaks} format.`,
    );
  }
  const fallbacks = route.fallbacks.flatMap((fallback) => candidate(gateway, fallback) ?? []);
  return {
    candidates: [first, ...fallbacks.filter(({ upstream }) => upstream.dialect === dialect)],
    routeId: route.routeId,
    limits: route.rateLimit && routeLimits(gateway, route),
  };
}

function candidate(
  gateway: GatewayRecord,
  { upstream, upstreamModel }: { readonly upstream: string; readonly upstreamModel: string },
): UpstreamCandidate | undefined {
  const found = gateway.upstreams.find(({ name }) => name === upstream);
  return found && { upstream: found, model: upstreamModel };
}

/** The same with no other upstream to ask where the first fails. */
export function withoutFallbacks({ candidates: [first], ...resolved }: Resolved): Resolved {
  return { ...resolved, candidates: [first] };
}

/** Whether a call that is on its way to one may go on to the other. */
export function isSameUpstream(one: UpstreamRecord, other: UpstreamRecord): boolean {
  return one === other || (one.baseUrl === other.baseUrl && one.credential === other.credential);
}

export function isSameCandidate(one: UpstreamCandidate, other: UpstreamCandidate): boolean {
  return one.model === other.model && isSameUpstream(one.upstream, other.upstream);
}
