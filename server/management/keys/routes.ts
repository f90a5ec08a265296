import type { FastifyInstance } from "fastify";
import type { Management } from "../context.ts";
import { keyAdviceRoutes } from "./access/advice-routes.ts";
import { apiManagedKeyRoutes } from "./change/api-managed-routes.ts";
import { manualKeyRoutes } from "./change/manual-routes.ts";
import { keyReadRoutes } from "./shown/read-routes.ts";

/**
 * Serves keys in the management API (spec §7, docs/decisions/management-api.md). A secret is only in the answer to the
 * request that had it minted. Digests are only in an export.
 */
export function keyRoutes(app: FastifyInstance, management: Management): void {
  keyReadRoutes(app, management);
  keyAdviceRoutes(app, management);
  apiManagedKeyRoutes(app, management);
  manualKeyRoutes(app, management);
}
