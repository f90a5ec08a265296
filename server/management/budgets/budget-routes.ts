import type { FastifyInstance } from "fastify";
import { readKeyBudgets, readTeamBudgets } from "../../../store/budgets/read-budgets.ts";
import { principalOf } from "../../auth/management/author.ts";
import type { Management } from "../context.ts";
import { type KeyIdParams, keyIdOf } from "../keys/key-request.ts";
import { showKey } from "../keys/shown-key.ts";
import { managedRoute } from "../managed-route.ts";
import { findVisible } from "../resource.ts";
import { rightsOf } from "../rights.ts";
import { BUDGETS, budgetsJson } from "./budget-json.ts";

/** How far the budgets of a key and of a team are used, for those who may see them. */
export function budgetRoutes(app: FastifyInstance, { store, clock, receipts }: Management): void {
  app.get<{ Params: KeyIdParams }>(
    "/keys/:id/budgets",
    { config: managedRoute({ summary: "Show how far a key's own budgets are used", response: BUDGETS }) },
    async (request) => {
      const rights = await rightsOf(store.db, principalOf(request));
      const now = clock.now();
      const { id } = await showKey({ db: store.db, receiptOf: await receipts.read(), now }, rights, keyIdOf(request));
      return budgetsJson(await readKeyBudgets(store.db, id, now));
    },
  );

  app.get<{ Params: KeyIdParams }>(
    "/teams/:id/budgets",
    { config: managedRoute({ summary: "Show how far a team's budgets are used", response: BUDGETS }) },
    async (request) => {
      const rights = await rightsOf(store.db, principalOf(request));
      const team = await findVisible(store.db, "team", rights, request.params.id);
      return budgetsJson(await readTeamBudgets(store.db, team, clock.now()));
    },
  );
}
