import type { Dialect, GatewayRecord, RouteRecord, UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { RoutePlugin } from "../../../server/app.ts";
import { gatewayRoutes } from "../../../server/gateway/routes.ts";
import { type SlotLimits, slotLimits } from "../../../server/gateway/upstream/upstream-slots.ts";
import { UPSTREAM_TIMES, type UpstreamTimes } from "../../../server/gateway/upstream/upstream-times.ts";
import { type HarnessOptions, startHarness } from "../harness.ts";

/** The app with nothing but the gateway. `times`: shorter ones than a model is given; `slots`: fewer than an upstream. */
export function startGateway({
  times,
  slots,
  ...options
}: HarnessOptions & { times?: Partial<UpstreamTimes>; slots?: Partial<SlotLimits> } = {}) {
  const routes: RoutePlugin = (app, deps) =>
    gatewayRoutes(app, deps, { ...UPSTREAM_TIMES, ...times }, { ...slotLimits(1), ...slots });
  return startHarness({ ...options, mounts: [{ at: "", routes }] });
}

export const PROVIDER_KEY = "sk-provider-canary-0123456789";

export function upstreamOf(
  url: string,
  dialect: Dialect = "openai",
  fields: Partial<UpstreamRecord> = {},
): UpstreamRecord {
  return { name: dialect, dialect, baseUrl: url, credential: PROVIDER_KEY, ...fields };
}

export function routeOf(model: string, fields: Partial<RouteRecord> = {}): RouteRecord {
  return {
    model,
    routeId: `rt-${model}`,
    upstream: "openai",
    upstreamModel: `real-${model}`,
    fallbacks: [],
    ...fields,
  };
}

/** The fields of a gateway with one upstream for each dialect, all at the same address. */
export function allDialects(url: string): Pick<GatewayRecord, "upstreams"> {
  return { upstreams: [upstreamOf(url), upstreamOf(url, "gemini"), upstreamOf(url, "anthropic")] };
}
