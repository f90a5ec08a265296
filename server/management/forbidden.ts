import type { FastifyInstance } from "fastify";
import { recordRefusal } from "../auth/refusals/record-refusal.ts";
import type { ServerDeps } from "../deps.ts";
import { Problem } from "../http/errors.ts";

/** Counts each refusal that is `forbidden` and passes it to the audit log, wherever a handler has thrown it. */
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
