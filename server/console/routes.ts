import type { FastifyInstance } from "fastify";
import { recordForbidden } from "../auth/refusals/record-forbidden.ts";
import { refuseForeignHosts } from "../http/host-check.ts";
import type { Management } from "../management/context.ts";
import { createReceipts } from "../management/keys/shown/receipt.ts";
import { answerHead } from "../pages/answer-head.ts";
import { assetRoutes } from "../pages/assets.ts";
import { parseForms } from "../pages/forms.ts";
import { protectPages } from "../pages/headers.ts";
import { showProblems } from "../pages/problem-page.ts";
import type { ServerDeps } from "../product/deps.ts";
import { consoleAuditRoutes } from "./audit/audit-routes.ts";
import { createExports } from "./exports.ts";
import { gatewayPageRoutes } from "./gateways/gateway-routes.ts";
import { keyActRoutes } from "./keys/act/act-routes.ts";
import { keyExportRoutes } from "./keys/act/export-routes.ts";
import { keyCreateRoutes } from "./keys/form/create-routes.ts";
import { keyEditRoutes } from "./keys/form/edit-routes.ts";
import { keyFindRoutes } from "./keys/list/find-routes.ts";
import { keyListRoutes } from "./keys/list/list-routes.ts";
import { keyPageRoutes } from "./keys/page/key-routes.ts";
import { foundKeyRoutes } from "./keys/selected/found-routes.ts";
import { selectedKeyRoutes } from "./keys/selected/selected-routes.ts";
import { nowRoutes } from "./now/now-routes.ts";
import { refusalRoutes } from "./refusals/refusal-routes.ts";
import { teamRoutes } from "./team/team-routes.ts";
import { consoleUsageRoutes } from "./usage/usage-routes.ts";
import { readViewerRoles } from "./viewer-roles.ts";
import { webhookRoutes } from "./webhooks/webhook-routes.ts";

/** Adds pages of the console that are not in this folder. */
export type ConsolePages = (app: FastifyInstance, management: Management) => void;

/**
 * Adds the console (spec §7): pages that the server renders, with the effects of the management API.
 *
 * @param others functions that add the pages of other products
 */
export function consoleRoutes(app: FastifyInstance, deps: ServerDeps, others: readonly ConsolePages[] = []): void {
  const { store, keyring, clock, prices } = deps;
  const management: Management = { store, keyring, clock, prices, receipts: createReceipts(store, clock) };
  const startExport = createExports();
  protectPages(app, deps.config);
  app.addHook("onRequest", refuseForeignHosts(deps.config));
  showProblems(app, deps.log);
  recordForbidden(app, deps);
  parseForms(app);
  readViewerRoles(app, store);
  answerHead(app);
  assetRoutes(app);
  app.get("/", { config: { console: true } }, (_request, reply) => reply.redirect("/dashboard/keys", 303));
  keyListRoutes(app, management);
  keyFindRoutes(app, management);
  keyCreateRoutes(app, management, deps.config.publicUrl);
  selectedKeyRoutes(app, management, deps);
  foundKeyRoutes(app, management, deps, startExport);
  keyPageRoutes(app, management);
  keyActRoutes(app, management, deps.config.publicUrl);
  keyEditRoutes(app, management);
  keyExportRoutes(app, management);
  gatewayPageRoutes(app, management, deps.config);
  teamRoutes(app, management);
  webhookRoutes(app, management);
  consoleUsageRoutes(app, management);
  refusalRoutes(app, management);
  nowRoutes(app, management);
  consoleAuditRoutes(app, deps, startExport);
  for (const addPages of others) addPages(app, management);
}
