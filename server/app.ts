import { type FastifyError, type FastifyInstance, type FastifyRequest, fastify } from "fastify";
import { holdExpectations } from "./auth/expect-continue.ts";
import { requireKeys } from "./auth/hook.ts";
import { refuseOtherMethods } from "./auth/other-methods.ts";
import { MCP_METADATA, METADATA_ROOT } from "./auth/protected-resource.ts";
import { addRateHeaders } from "./auth/rate-headers.ts";
import { observeCalls } from "./calls/call-metrics.ts";
import { awaitKeylessBody } from "./calls/open-call.ts";
import { TICK_MS } from "./http/answers/answer-budget.ts";
import { observeAnswers } from "./http/answers/answer-metrics.ts";
import { cachedText } from "./http/answers/cached-text.ts";
import { PacedResponse } from "./http/answers/paced-response.ts";
import { refuseCodedBodies } from "./http/bodies/body-coding.ts";
import { clientErrorHandler } from "./http/connections/client-error.ts";
import { createListener, type TlsFiles } from "./http/connections/listener.ts";
import { PipeliningLimit, type Route } from "./http/connections/pipelining-limit.ts";
import { observePipelining } from "./http/connections/pipelining-metrics.ts";
import { LingeringSockets, MAX_LINGERING } from "./http/connections/refused-request.ts";
import { withoutPorts } from "./http/forwarded-for.ts";
import { named } from "./http/named-plugin.ts";
import { pathHint } from "./http/path-hint.ts";
import { errorHandler } from "./http/problems/error-handler.ts";
import { problem } from "./http/problems/problem.ts";
import { requireSingleHost } from "./http/single-host.ts";
import { isOverTls } from "./http/transport-security.ts";
import { OPENAPI_TAGS, referencePath } from "./openapi/areas.ts";
import { collectDocs } from "./openapi/document.ts";
import type { RouteDocs } from "./openapi/route-docs.ts";
import { ASSETS_ROUTE } from "./pages/assets.ts";
import type { ServerDeps } from "./product/deps.ts";
import type { RequestTrace } from "./telemetry/request-trace.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Request in its caller's trace; null if nothing is traced. */
    trace: RequestTrace | null;
  }
}

/**
 * Adds the routes of a product. An onRequest hook of the plugin runs before authentication, an onRequest hook of a
 * route after it.
 */
export type RoutePlugin = (app: FastifyInstance, deps: ServerDeps) => void | Promise<void>;

/** Routes of a product, and the path prefix at which they are served. */
export type Mount = { readonly at: string; readonly routes: RoutePlugin };

/** Patterns of all routes that need no key. */
export const PUBLIC_ROUTES: ReadonlySet<string> = new Set([
  "/",
  "/docs",
  ...OPENAPI_TAGS.map(({ name }) => referencePath(name)),
  "/readyz",
  "/openapi.json",
  "/api/v1/leaks",
  METADATA_ROOT,
  MCP_METADATA,
  ASSETS_ROUTE,
  "/dashboard/sign-in",
  "/dashboard/callback",
  "/dashboard/backchannel-logout",
]);

/** Maximum length of a path parameter. A longer one is refused with 414. */
const MAX_PARAMETER_LENGTH = 512;
/** Maximum bytes of a body. A larger body is refused with 413, unless its route sets another limit. */
const BODY_LIMIT = 1 << 20;

/** Milliseconds between two looks at the bodies that are waited for. */
const PACE_MS = 500;

/**
 * Builds the public listener.
 *
 * @param mounts products to serve
 * @param tls null for plain HTTP
 * @throws Error if a route declares no access
 */
export async function buildApp(
  deps: ServerDeps,
  mounts: readonly Mount[],
  tls: TlsFiles | null = null,
): Promise<FastifyInstance> {
  const onError = errorHandler(deps.log);
  // This thread's share of the process's limit.
  const lingering = new LingeringSockets(Math.ceil(MAX_LINGERING / deps.config.workers));
  const pipelining = new PipeliningLimit(lingering);
  observePipelining(deps.metrics.registry, pipelining);
  const trustsProxies = deps.config.trustedProxies.length > 0;
  const guard = (route: Route): Route =>
    pipelining.guard(requireSingleHost(trustsProxies ? withoutPorts(route) : route));
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    bodyLimit: BODY_LIMIT,
    // On shutdown, a call on an open connection is answered, as the connection's last: no other server has received it.
    return503OnClosing: false,
    trustProxy: trustsProxies ? [...deps.config.trustedProxies] : false,
    routerOptions: { caseSensitive: true, maxParamLength: MAX_PARAMETER_LENGTH },
    serverFactory: (route) =>
      createListener(guard(route), tls, lingering, deps.answers, isOverTls(deps.config), [addRateHeaders]),
    frameworkErrors: (error: FastifyError, request, reply) => onError(error, request, reply),
    clientErrorHandler: clientErrorHandler(lingering),
  });
  holdExpectations(app.server, guard(app.routing));
  app.setErrorHandler(onError);
  app.removeContentTypeParser("text/plain");
  app.decorateRequest("trace", null);
  app.addHook("onRequest", (request, { raw }, done) => {
    const startedAt = deps.clock.monotonic();
    if (raw instanceof PacedResponse) raw.asker = request;
    if (deps.tracing !== null) request.trace = deps.tracing.begin(request.raw);
    // A listener in place of an onResponse hook, for which the framework spends as much as for a request's routing.
    raw.on("close", () => {
      request.openCall?.end();
      const isAnswered = raw.writableFinished || raw.errored !== null;
      if (request.trace !== null) endTrace(request.trace, request, raw.statusCode, isAnswered);
      if (!isAnswered) return;
      const tookMs = deps.clock.monotonic() - startedAt;
      deps.metrics.countRequest(request.access?.operation ?? "none", raw.statusCode, tookMs);
    });
    // A response that is written to after its client has gone emits an error before it closes.
    raw.on("error", ignore);
    done();
  });
  // Behind a plugin's own onRequest hooks, and before a body is read.
  app.addHook("preParsing", ({ is404, raw }, _reply, payload, done) => {
    if (is404) done(problem("not_found", pathHint(raw.url ?? "")));
    else done(null, payload);
  });
  app.addHook("preParsing", awaitKeylessBody(deps.streams));
  requireKeys(app, deps, PUBLIC_ROUTES);
  refuseCodedBodies(app);
  observeCalls(deps.metrics.registry, deps.streams);
  observeAnswers(deps.metrics.registry, deps.answers);
  const pace = setInterval(() => deps.streams.cutSlowBodies(deps.clock.monotonic()), PACE_MS).unref();
  const ticks = setInterval(() => deps.answers.tick(), TICK_MS).unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(pace);
    clearInterval(ticks);
    done();
  });
  const describe = collectDocs(app, deps.config);
  app.decorate("describeApi", describe);
  app.get(
    "/openapi.json",
    { config: { public: true, docs: DESCRIPTION } },
    cachedText("application/json; charset=utf-8", () => JSON.stringify(describe())),
  );
  for (const { at, routes } of mounts) {
    const plugin = (product: FastifyInstance) => refuseOtherMethods(product, (scope) => routes(scope, deps));
    app.register(named(`product at ${at}/`, plugin), { prefix: at });
  }
  await app.ready();
  return app;
}

const DESCRIPTION: RouteDocs = {
  summary: "Read this description",
  response: { title: "Description", type: "object", description: "An OpenAPI 3.1 document." },
};

function endTrace(trace: RequestTrace, request: FastifyRequest, status: number, isAnswered: boolean): void {
  trace.end({ status, isAnswered, route: request.routeOptions.url, access: request.access ?? undefined });
}

const ignore = (): void => {};
