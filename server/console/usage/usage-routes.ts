import type { FastifyInstance } from "fastify";
import { principalOf } from "../../auth/management/author.ts";
import type { Management } from "../../management/context.ts";
import { rightsOf, visibleTeams } from "../../management/rights.ts";
import { html } from "../../pages/html.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { seeUsage } from "./see-usage.ts";
import { usagePanel } from "./usage-panel.ts";
import { usageRange } from "./usage-ranges.ts";

const PATH = "/dashboard/usage";

/** What all of the viewer's teams used: for the installation's own all teams. */
export function consoleUsageRoutes(app: FastifyInstance, { store, clock, prices }: Management): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/usage",
    { config: { console: true } },
    async (request, reply) => {
      const teamIds = visibleTeams(await rightsOf(store.db, principalOf(request)));
      const range = usageRange(request.query.usage);
      const seen = await seeUsage(store.db, clock.now(), range, { teamIds, prices: prices.current() }, [
        "team",
        "model",
        "key",
      ]);
      const whose = teamIds === undefined ? "All teams of this installation." : "The teams that you are a member of.";
      const content = html`<div class="head"><h1>Usage</h1></div><p class="muted">${whose}</p>${usagePanel(seen, PATH)}`;
      return sendConsolePage(request, reply, { title: "Usage", section: "usage", content });
    },
  );
}
