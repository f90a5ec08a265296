import type { FastifyInstance } from "fastify";
import { recordForbidden } from "../auth/refusals/record-forbidden.ts";
import { refuseUnstorableBodies } from "../http/bodies/body-text.ts";
import { parseJsonOnly } from "../http/bodies/json-body.ts";
import { validateStrictly } from "../http/validation.ts";
import type { ServerDeps } from "../product/deps.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { budgetRoutes } from "./budgets/budget-routes.ts";
import { consoleLinkRoutes } from "./console-links.ts";
import type { Management } from "./context.ts";
import { endedSessionRoutes } from "./ended-sessions.ts";
import { forgottenPolicyRoutes } from "./forgotten-policies.ts";
import { keyAccessRoutes } from "./keys/access/access-routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { createReceipts } from "./keys/shown/receipt.ts";
import { GATEWAYS } from "./objects/gateways.ts";
import { LIBRARIES } from "./objects/libraries.ts";
import { librarySubjectRoutes } from "./objects/library-subjects.ts";
import { objectRoutes } from "./objects/object-routes.ts";
import { TEAMS } from "./objects/teams.ts";
import { revokedSubjectRoutes } from "./revoked-subjects.ts";
import { usageRoutes } from "./usage/usage-routes.ts";
import { webhookDeliveryRoutes } from "./webhook-deliveries.ts";

/**
 * Serves the management API (spec §7, docs/reference/management-api.md), which the Pulumi provider and the commands
 * use.
 */
export function managementRoutes(app: FastifyInstance, deps: ServerDeps): void {
  const { store, keyring, clock, prices } = deps;
  const management: Management = { store, keyring, clock, prices, receipts: createReceipts(store, clock) };
  parseJsonOnly(app);
  validateStrictly(app);
  app.addHook("preValidation", refuseUnstorableBodies);
  app.addHook("onSend", async (_request, reply) => {
    reply.header("cache-control", "no-store");
  });
  recordForbidden(app, deps);
  keyRoutes(app, management);
  keyAccessRoutes(app, deps);
  objectRoutes(app, management, TEAMS);
  objectRoutes(app, management, LIBRARIES);
  objectRoutes(app, management, GATEWAYS);
  librarySubjectRoutes(app, management);
  revokedSubjectRoutes(app, management, deps.config);
  endedSessionRoutes(app, management, deps.config);
  forgottenPolicyRoutes(app, management);
  webhookDeliveryRoutes(app, management);
  auditRoutes(app, management);
  usageRoutes(app, management, deps.config);
  budgetRoutes(app, management);
  consoleLinkRoutes(app, deps);
}
