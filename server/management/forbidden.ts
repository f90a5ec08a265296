import type { FastifyInstance } from "fastify";
import type { ServerDeps } from "../deps.ts";
import { Problem } from "../http/errors.ts";

/** Counts what somebody may not do, and tells the audit log of it, wherever in a handler it was found out. */
export function recordForbidden(app: FastifyInstance, { clock, index, metrics, refusals }: ServerDeps): void {
  app.addHook("onError", async (request, _reply, error) => {
    if (!(error instanceof Problem) || error.code !== "forbidden") return;
    metrics.countRefusal("management_forbidden");
    refusals.record({
      client: request,
      at: clock.now(),
      code: "forbidden",
      cause: "management_forbidden",
      seq: index.lastSeq(),
      route: request.routeOptions.url,
      keyId: null,
      teamId: null,
      ...(request.managementPrincipal === null ? {} : { principal: request.managementPrincipal.actor }),
    });
  });
}
