import type { FastifyInstance } from "fastify";
import type { UsageGroup } from "../../../store/usage/usage-question.ts";
import { principalOf } from "../../auth/management/author.ts";
import type { Management } from "../../management/context.ts";
import { requestedTeams } from "../../management/requested-teams.ts";
import { rightsOf, visibleTeams } from "../../management/rights.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { queryText } from "../query-text.ts";
import { offeredTeams } from "../team-field.ts";
import { seeUsage } from "./see-usage.ts";
import { usageContent } from "./usage-page.ts";
import { usageRange } from "./usage-ranges.ts";

const ALL_MODELS: readonly UsageGroup[] = ["team", "model", "key"];
/** Tables for one model: first of all the keys that use it. */
const ONE_MODEL: readonly UsageGroup[] = ["key", "team"];

/**
 * Serves the usage of the viewer's teams, or of one of them, of all models or of one. Those who run the installation
 * see all teams.
 */
export function consoleUsageRoutes(app: FastifyInstance, { store, clock, prices }: Management): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/usage",
    { config: { console: true } },
    async (request, reply) => {
      const [team, model] = [queryText(request.query.team), queryText(request.query.model)];
      const rights = await rightsOf(store.db, principalOf(request));
      const asked = {
        teamIds: await requestedTeams(store.db, rights, team),
        model: model === "" ? undefined : model,
        prices: prices.current(),
      };
      const range = usageRange(request.query.usage);
      const content = usageContent({
        ...{ team, model, isOfAll: visibleTeams(rights) === undefined },
        teams: await offeredTeams(store.db, rights),
        usage: await seeUsage(store.db, clock.now(), range, asked, model === "" ? ALL_MODELS : ONE_MODEL),
      });
      return sendConsolePage(request, reply, { title: "Usage", section: "usage", content });
    },
  );
}
