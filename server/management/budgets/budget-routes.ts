import type { FastifyInstance } from "fastify";
import type { OwnedBudget } from "../../../domain/budget/budget.ts";
import { budgetUnit, inUnit } from "../../../domain/budget/budget-size.ts";
import { appendAudit } from "../../../store/audit/audit.ts";
import {
  budgetsOfKey,
  budgetsOfTeam,
  readKeyBudgets,
  readTeamBudgets,
  readUses,
} from "../../../store/budgets/read-budgets.ts";
import { releaseBudgets } from "../../../store/budgets/release-budgets.ts";
import { principalOf } from "../../auth/management/author.ts";
import { requireSessionStill } from "../../auth/management/principal-now.ts";
import { type ChangeContext, changeContextOf } from "../change-context.ts";
import type { Management } from "../context.ts";
import { type KeyIdParams, keyIdOf } from "../keys/request/key-request.ts";
import { showKey } from "../keys/shown/shown-key.ts";
import { managedRoute } from "../managed-route.ts";
import { findVisible } from "../objects/resource.ts";
import { bodyMayBeMissing } from "../paging.ts";
import { REASON_BODY, type ReasonBody } from "../request-schemas.ts";
import { requireInstallation, rightsOf } from "../rights.ts";
import { BUDGETS, type BudgetsJson, budgetsJson } from "./budget-json.ts";

const EXAMPLE = { reason: "the replica was killed, and its calls were few" };

/**
 * Serves the use of the budgets of a key and of a team, for those who may see them. Also gives back what ended servers
 * held of a budget, for those who run the installation.
 */
export function budgetRoutes(app: FastifyInstance, management: Management): void {
  const { store, clock, receipts } = management;
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

  /** Gives budgets back what ended servers held of them. The audit log names the owner by its key or its team. */
  const release = async (
    { author: by, principal, rights }: ChangeContext,
    budgets: readonly OwnedBudget[],
    owner: { readonly teamId: string; readonly keyId?: string },
  ): Promise<BudgetsJson> => {
    requireInstallation(rights, "release budgets");
    const now = clock.now();
    await store.db.transaction().execute(async (tx) => {
      await requireSessionStill(tx, principal);
      const released = await releaseBudgets(tx, budgets, now);
      const kind = owner.keyId === undefined ? "team.budget_released" : "key.budget_released";
      const events = released.map(({ budget, released: parts }) => {
        const unit = budgetUnit(budget);
        const { period, policy } = budget;
        const detail = { released: inUnit(unit, parts), unit, period, ...(policy !== undefined && { policy }) };
        return { ...{ at: null, kind, by, detail }, ...owner } as const;
      });
      await appendAudit(tx, events);
    });
    return budgetsJson(await readUses(store.db, budgets, now));
  };

  app.post<{ Params: KeyIdParams; Body: ReasonBody }>(
    "/keys/:id/released-budgets",
    {
      config: managedRoute({
        summary: "Give a key's own budgets back what servers held that ended: by the installation's own",
        response: BUDGETS,
        example: EXAMPLE,
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => {
      const context = await changeContextOf(management, request, request.body);
      const at = { db: store.db, receiptOf: await receipts.read(), now: clock.now() };
      const { id: keyId, teamId } = await showKey(at, context.rights, keyIdOf(request));
      return release(context, await budgetsOfKey(store.db, keyId), { teamId, keyId });
    },
  );

  app.post<{ Params: { id: string }; Body: ReasonBody }>(
    "/teams/:id/released-budgets",
    {
      config: managedRoute({
        summary: "Give a team's budgets back what servers held that ended: by the installation's own",
        response: BUDGETS,
        example: EXAMPLE,
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => {
      const context = await changeContextOf(management, request, request.body);
      const team = await findVisible(store.db, "team", context.rights, request.params.id);
      return release(context, budgetsOfTeam(team), { teamId: team.id });
    },
  );
}
