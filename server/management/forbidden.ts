import type { FastifyInstance } from "fastify";
import { recordRefusal } from "../auth/refusals/record-refusal.ts";
import type { ServerDeps } from "../deps.ts";
import { Problem } from "../http/errors.ts";

/** Counts what somebody may not do, and tells the audit log of it, wherever in a handler it was found out. */
export function recordForbidden(app: FastifyInstance, deps: ServerDeps): void {
  app.addHook("onError", async (request, _reply, error) => {
    if (!(error instanceof Problem) || error.code !== "forbidden") return;
    const { managementPrincipal, routeOptions } = request;
    recordRefusal(deps, request, routeOptions.url, {
      code: "forbidden",
      cause: "management_forbidden",
      key: undefined,
      principal: managementPrincipal?.actor,
    });
  });
}
