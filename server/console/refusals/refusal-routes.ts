import type { FastifyInstance } from "fastify";
import { searchAudit } from "../../../store/audit/audit-search.ts";
import { principalOf } from "../../auth/management/author.ts";
import { namesOfEvents } from "../../management/audit/audit-json.ts";
import type { Management } from "../../management/context.ts";
import { requestedTeams } from "../../management/requested-teams.ts";
import { rightsOf, visibleTeams } from "../../management/rights.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { queryText } from "../query-text.ts";
import { offeredTeams } from "../team-field.ts";
import { refusalSpan } from "./refusal-spans.ts";
import { REFUSED_ROWS, refusalsContent } from "./refusals-page.ts";
import { callersRefused } from "./refused-callers.ts";
import { readRefusingBudgets } from "./refused-until.ts";

/** Number of the latest rows of the audit log that are added up. */
const LOOKED_THROUGH = 1_000;

/**
 * Serves the refusals of the teams in which the viewer has a role: who was refused lately, and why. Only those who run
 * the installation see refusals that belong to no team, as in the audit log.
 */
export function refusalRoutes(app: FastifyInstance, { store, clock }: Pick<Management, "store" | "clock">): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/refusals",
    { config: { console: true } },
    async (request, reply) => {
      const [team, span, now] = [queryText(request.query.team), refusalSpan(request.query.last), clock.now()];
      const rights = await rightsOf(store.db, principalOf(request));
      const found = await searchAudit(store.db, {
        ...{ teamIds: await requestedTeams(store.db, rights, team), kind: "request.refused" },
        ...{ from: now - span.ms, to: undefined, actor: undefined, about: undefined },
        ...{ after: undefined, limit: LOOKED_THROUGH },
      });
      const callers = callersRefused(found.events);
      const content = refusalsContent({
        ...{ team, span, now },
        teams: await offeredTeams(store.db, rights),
        callers,
        budgets: await readRefusingBudgets(store.db, callers.slice(0, REFUSED_ROWS), now),
        lookedBackTo: found.next === null ? undefined : Math.floor(Number(found.next.at) / 1_000),
        names: await namesOfEvents(store.db, found.events, visibleTeams(rights)),
      });
      return sendConsolePage(request, reply, { title: "Denied requests", section: "refusals", content });
    },
  );
}
