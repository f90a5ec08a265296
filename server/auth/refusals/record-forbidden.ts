import type { FastifyInstance } from "fastify";
import { Problem } from "../../http/problems/problem.ts";
import { forbidden } from "../refused.ts";
import { type RefusalDeps, recordRefusal } from "./record-refusal.ts";

/** Counts each refusal that is `forbidden` and passes it to the audit log, wherever a handler has thrown it. */
export function recordForbidden(app: FastifyInstance, deps: RefusalDeps): void {
  app.addHook("onError", async (request, _reply, error) => {
    if (!(error instanceof Problem) || error.code !== "forbidden") return;
    const { managementPrincipal, routeOptions } = request;
    const by =
      managementPrincipal === null ? undefined : ({ kind: "membership", actor: managementPrincipal.actor } as const);
    recordRefusal(deps, request, routeOptions.url, forbidden("management_forbidden", undefined, by));
  });
}
