import type { FastifyInstance, FastifyRequest } from "fastify";
import { listDeliveries, listWebhooks } from "../../../store/webhooks/delivery-log.ts";
import { principalOf } from "../../auth/management/author.ts";
import { changeContextOf } from "../../management/change-context.ts";
import type { Management } from "../../management/context.ts";
import { pageOf } from "../../management/paging.ts";
import { requestedTeams } from "../../management/requested-teams.ts";
import { allows, rightsOf } from "../../management/rights.ts";
import { redeliverByHand } from "../../management/webhook-deliveries.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { viewerOf } from "../../pages/viewer.ts";
import { queryText, readAfterId } from "../query-text.ts";
import { offeredTeams } from "../team-field.ts";
import { webhooksContent } from "./webhooks-page.ts";

const PAGE = 50;
/** Maximum number of webhooks on the page. A team has five at most. */
const MAX_WEBHOOKS = 100;

type WebhookRequest = { Querystring: Readonly<Record<string, unknown>> };

/**
 * Serves webhooks and their deliveries. Every role in the team may see them; an admin may have a delivery sent again.
 */
export function webhookRoutes(app: FastifyInstance, management: Management): void {
  const { store, clock } = management;

  app.get<WebhookRequest>("/webhooks", { config: { console: true } }, async (request, reply) => {
    const query = readQuery(request);
    const rights = await rightsOf(store.db, principalOf(request));
    const teamIds = await requestedTeams(store.db, rights, query.team);
    const webhooks = await listWebhooks(store.db, teamIds, MAX_WEBHOOKS + 1);
    const found = await listDeliveries(store.db, {
      ...{ teamIds, afterId: query.afterId, limit: PAGE + 1 },
      onlyFailed: query.state === "failed",
    });
    const { items: deliveries, nextCursor: nextId } = pageOf(found, PAGE);
    const content = webhooksContent({
      ...{ query, deliveries, nextId, viewer: viewerOf(request) },
      webhooks: webhooks.slice(0, MAX_WEBHOOKS),
      areMore: webhooks.length > MAX_WEBHOOKS,
      teams: await offeredTeams(store.db, rights),
      mayRedeliver: (teamId) => allows(rights, teamId, "change the team"),
      now: clock.now(),
    });
    return sendConsolePage(request, reply, { title: "Webhooks", section: "webhooks", content });
  });

  app.post<{ Params: { id: string } }>(
    "/webhooks/deliveries/:id/redeliver",
    { config: { console: true } },
    async (request, reply) => {
      const context = await changeContextOf(management, request, {});
      await redeliverByHand(context, request.params.id);
      return reply.redirect("/dashboard/webhooks", 303);
    },
  );
}

function readQuery({ query }: FastifyRequest<WebhookRequest>) {
  const state = queryText(query.state) === "failed" ? "failed" : "";
  return { team: queryText(query.team), afterId: readAfterId(query.after), state } as const;
}
