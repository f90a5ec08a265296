import type { FastifyInstance } from "fastify";
import { recordForbidden } from "../auth/refusals/record-forbidden.ts";
import { refuseForeignHosts } from "../http/host-check.ts";
import type { Management } from "../management/context.ts";
import { createReceipts } from "../management/keys/receipt.ts";
import { answerHead } from "../pages/answer-head.ts";
import { assetRoutes } from "../pages/assets.ts";
import { parseForms } from "../pages/forms.ts";
import { protectPages } from "../pages/headers.ts";
import { showProblems } from "../pages/problem-page.ts";
import type { ServerDeps } from "../product/deps.ts";
import { consoleAuditRoutes } from "./audit/audit-routes.ts";
import { gatewayPageRoutes } from "./gateways/gateway-routes.ts";
import { keyActRoutes } from "./keys/act-routes.ts";
import { keyCreateRoutes } from "./keys/create-routes.ts";
import { keyEditRoutes } from "./keys/edit-routes.ts";
import { keyExportRoutes } from "./keys/export-routes.ts";
import { keyPageRoutes } from "./keys/key-routes.ts";
import { keyListRoutes } from "./keys/list-routes.ts";
import { libraryRoutes } from "./libraries/library-routes.ts";
import { teamRoutes } from "./team/team-routes.ts";
import { consoleUsageRoutes } from "./usage/usage-routes.ts";
import { webhookRoutes } from "./webhooks/webhook-routes.ts";

/** The console (spec §7): pages that the server renders, with the effects of the management API. */
export function consoleRoutes(app: FastifyInstance, deps: ServerDeps): void {
  const { store, keyring, clock, prices } = deps;
  const management: Management = { store, keyring, clock, prices, receipts: createReceipts(store, clock) };
  protectPages(app, deps.config);
  app.addHook("onRequest", refuseForeignHosts(deps.config));
  showProblems(app, deps.log);
  recordForbidden(app, deps);
  parseForms(app);
  answerHead(app);
  assetRoutes(app);
  app.get("/", { config: { console: true } }, (_request, reply) => reply.redirect("/dashboard/keys", 303));
  keyListRoutes(app, management);
  keyCreateRoutes(app, management, deps.config.publicUrl);
  keyPageRoutes(app, management);
  keyActRoutes(app, management, deps.config.publicUrl);
  keyEditRoutes(app, management);
  keyExportRoutes(app, management);
  libraryRoutes(app, management);
  gatewayPageRoutes(app, management, deps.config);
  teamRoutes(app, management);
  webhookRoutes(app, management);
  consoleUsageRoutes(app, management);
  consoleAuditRoutes(app, deps);
}
