import { type OwnedLimits, routeLimits } from "../../domain/access/declared-limits.ts";
import type { Dialect, GatewayRecord, RouteRecord, UpstreamRecord } from "../../domain/access/key-record.ts";
import { choicesOf, inTurn, type RouteTarget } from "../../domain/access/route-weights.ts";
import { listed } from "../http/listed.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { nameableRoutes } from "./model/models.ts";

/** One upstream to ask, and the model to ask it for; the model is undefined if the client's own text stays as it is. */
export type UpstreamCandidate = { readonly upstream: UpstreamRecord; readonly model: string | undefined };

/** Candidates of a call: the first is asked, and the others when it fails. */
export type Resolved = {
  readonly candidates: readonly [UpstreamCandidate, ...UpstreamCandidate[]];
  /** Candidates of a route whose upstreams share its calls, as declared; left out for a route without weights. */
  readonly declared?: readonly UpstreamCandidate[];
  /** Id of the logical route that the model named; undefined if it named none. */
  readonly routeId: string | undefined;
  /** Limits that all calls of that route share; undefined for no limit. */
  readonly limits: OwnedLimits | undefined;
  /** Retries at each candidate that has failed; undefined for none. */
  readonly retry: RouteRecord["retry"];
  /** Times that the route declares; undefined for the usual ones. */
  readonly timeouts: RouteRecord["timeouts"];
};

/** Facts about the key that resolving needs. */
export type ResolvingKey = {
  readonly allowedModels: readonly string[] | null;
  readonly mayResolveRoutes: boolean;
  /** Id of the key, by which a sticky route's upstream is chosen. */
  readonly keyId?: string;
  /** Id of the call, by which another route's is chosen where several share its calls; left out for the declared order. */
  readonly callId?: string;
};

/** True if the model that a body names can matter; else the body is not inspected (spec §4). */
export function needsModel(gateway: GatewayRecord, allowedModels: readonly string[] | null): boolean {
  return gateway.routes.length > 0 || gateway.routesOnly || allowedModels !== null;
}

/**
 * True if a key with these allowed models may name a model. Null allows any; a list allows no model that is unknown.
 */
export function mayName(allowedModels: readonly string[] | null, model: string | undefined): boolean {
  return allowedModels === null || (model !== undefined && allowedModels.includes(model));
}

/**
 * Finds the upstream for a call (spec §4). Pure.
 *
 * @param model model that the path or the body names; undefined if it names none, or if none can matter
 * @returns the candidates, or the problem to answer if the call goes nowhere
 */
export function resolve(
  gateway: GatewayRecord,
  key: ResolvingKey,
  dialect: Dialect,
  model: string | undefined,
): Resolved | Problem {
  const { allowedModels } = key;
  if (allowedModels !== null && !mayName(allowedModels, model)) {
    const refusal =
      model === undefined
        ? "The request must name a model, and one that this key may use."
        : "This key may not use this model.";
    return problem("forbidden", `${refusal} Its allowed models are: ${listed(allowedModels)}.`);
  }
  const route = model === undefined ? undefined : gateway.routes.find((each) => each.model === model);
  if (route !== undefined) {
    if (!key.mayResolveRoutes) {
      return problem(
        "forbidden",
        "This model names a logical route, and the key lacks the scope gateway:routes. Use another key, or have the scope added to this one.",
      );
    }
    return resolveRoute(gateway, route, dialect, key);
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
  return {
    candidates: [{ upstream, model: undefined }],
    routeId: undefined,
    limits: undefined,
    retry: undefined,
    timeouts: undefined,
  };
}

/**
 * Resolves a call that asks no model: it may go to any upstream of its format, of which the first is asked. Pure.
 */
export function resolveUnmodelled({ upstreams, ...gateway }: GatewayRecord, dialect: Dialect): Resolved | Problem {
  const [first, ...others] = upstreams
    .filter((each) => each.dialect === dialect)
    .map((upstream): UpstreamCandidate => ({ upstream, model: undefined }));
  if (first === undefined) return unspoken({ upstreams, ...gateway }, dialect);
  return {
    candidates: [first, ...others],
    routeId: undefined,
    limits: undefined,
    retry: undefined,
    timeouts: undefined,
  };
}

function unspoken({ upstreams }: GatewayRecord, dialect: Dialect): Problem {
  const spoken = [...new Set(upstreams.map((each) => each.dialect))];
  const instead = spoken.length === 0 ? "" : `use a client of a format that it speaks (${listed(spoken)}), or `;
  return problem("not_found", `This gateway has no upstream that speaks ${dialect}: ${instead}have one added.`);
}

const ROUTES_ONLY = "This gateway serves its logical routes alone";

/**
 * Returns a sentence with the routes that a key may name in this format, or with the scope that it lacks to see them.
 */
function routesFor(gateway: GatewayRecord, key: ResolvingKey, dialect: Dialect): string {
  if (!key.mayResolveRoutes) return " To name one takes the scope gateway:routes, which this key lacks.";
  const routes = nameableRoutes(gateway, key.allowedModels, dialect).map(({ model }) => model);
  return ` This key may name: ${routes.length === 0 ? `none in the ${dialect} format` : listed(routes)}.`;
}

/**
 * Resolves a logical route. Nothing is translated: a route whose upstream speaks another dialect than the path is
 * refused.
 */
function resolveRoute(
  gateway: GatewayRecord,
  route: RouteRecord,
  dialect: Dialect,
  key: ResolvingKey,
): Resolved | Problem {
  const first = candidate(gateway, route);
  if (first === undefined) return problem("not_found", "The upstream of this logical route is gone.");
  if (first.upstream.dialect !== dialect) {
    const speaks = first.upstream.dialect;
    return problem(
      "invalid_request",
      `This logical route is served in the ${speaks} format, and this path is ${dialect}'s: call it with a client of the ${speaks} format.`,
    );
  }
  const resolved: Resolved = {
    candidates: [first, ...candidatesOf(gateway, route.fallbacks, dialect)],
    routeId: route.routeId,
    limits: route.rateLimit && routeLimits(gateway, route),
    retry: route.retry,
    timeouts: route.timeouts,
  };
  return route.weight === undefined ? resolved : inChosenOrder(gateway, route, dialect, key, resolved);
}

/** Puts the candidates of a route with weights into the order in which a call asks them. */
function inChosenOrder(
  gateway: GatewayRecord,
  route: RouteRecord,
  dialect: Dialect,
  { keyId, callId }: ResolvingKey,
  resolved: Resolved,
): Resolved {
  const seed = route.sticky === undefined ? callId : keyId;
  if (seed === undefined) return resolved;
  const { first, after } = choicesOf(route);
  const [chosen, ...others] = candidatesOf(gateway, [...inTurn(first, seed), ...after], dialect);
  if (chosen === undefined) return resolved;
  return withCredentials({ ...resolved, candidates: [chosen, ...others], declared: resolved.candidates });
}

function lacksCredential({ upstream }: UpstreamCandidate): boolean {
  return upstream.credential === null;
}

/** Returns the targets that are there and speak the dialect. */
function candidatesOf(
  gateway: GatewayRecord,
  targets: readonly RouteTarget[],
  dialect: Dialect,
): readonly UpstreamCandidate[] {
  const candidates: UpstreamCandidate[] = [];
  for (const target of targets) {
    const found = candidate(gateway, target);
    if (found?.upstream.dialect === dialect) candidates.push(found);
  }
  return candidates;
}

function candidate(gateway: GatewayRecord, { upstream, upstreamModel }: RouteTarget): UpstreamCandidate | undefined {
  const found = gateway.upstreams.find(({ name }) => name === upstream);
  return found && { upstream: found, model: upstreamModel };
}

/** Returns the same resolution without the candidates that have no credential at present, if others have one. */
export function withCredentials(resolved: Resolved): Resolved {
  if (!resolved.candidates.some(lacksCredential)) return resolved;
  const [first, ...others] = resolved.candidates.filter((one) => !lacksCredential(one));
  return first === undefined ? resolved : { ...resolved, candidates: [first, ...others] };
}

/** Returns the same resolution with its first candidate alone, which is asked once. */
export function withoutFallbacks({ candidates: [first], ...resolved }: Resolved): Resolved {
  return { ...resolved, candidates: [first], retry: undefined };
}

/** Answer to a call that was begun for an upstream to which its gateway leads no more, or not yet. */
export const MOVED: Problem = problem(
  "unavailable",
  "The gateway has come to lead elsewhere since this call began, so no upstream was asked for more: try again.",
);

/** True if a call that is on its way to one upstream may go on to the other. */
export function isSameUpstream(one: UpstreamRecord, other: UpstreamRecord): boolean {
  return one === other || (one.baseUrl === other.baseUrl && one.credential === other.credential);
}

export function isSameCandidate(one: UpstreamCandidate, other: UpstreamCandidate): boolean {
  return one.model === other.model && isSameUpstream(one.upstream, other.upstream);
}
