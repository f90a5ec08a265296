import type { FastifyInstance } from "fastify";
import type { Store } from "../../store/database/store.ts";
import { rolesOf } from "../../store/teams/team-roles.ts";

/** Reads the roles of the viewer for the account menu. No decision depends on them. */
export function readViewerRoles(app: FastifyInstance, store: Pick<Store, "db">): void {
  app.decorateRequest("viewerRoles", undefined);
  app.addHook("preHandler", async (request) => {
    const { session, managementPrincipal } = request;
    if (session === null || managementPrincipal === null || typeof managementPrincipal.as === "string") return;
    request.viewerRoles = await rolesOf(store.db, managementPrincipal.as);
  });
}
