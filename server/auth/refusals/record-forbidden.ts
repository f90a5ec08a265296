import type { FastifyInstance } from "fastify";
import { Problem } from "../../http/problems/problem.ts";
import { type RefusalDeps, recordRefusal } from "./record-refusal.ts";

/** Counts each refusal that is `forbidden` and passes it to the audit log, wherever a handler has thrown it. */
export function recordForbidden(app: FastifyInstance, deps: RefusalDeps): void {
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
