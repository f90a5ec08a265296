import type { FastifyInstance } from "fastify";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { appendAudit } from "../../store/audit/audit.ts";
import { change } from "../../store/database/change.ts";
import { isId } from "../../store/database/ids.ts";
import { type LoggedDelivery, listDeliveries, lockDelivery, redeliver } from "../../store/webhooks/delivery-log.ts";
import { principalOf } from "../auth/management/author.ts";
import { problem } from "../http/problems/problem.ts";
import { type ChangeContext, changeContextOf } from "./change-context.ts";
import type { Management } from "./context.ts";
import { managedRoute } from "./managed-route.ts";
import { showObject } from "./objects/resource.ts";
import { TEAMS } from "./objects/teams.ts";
import { bodyMayBeMissing, pageOf, readCursor } from "./paging.ts";
import { PAGE, type PageQuery, REASON_BODY, REASON_EXAMPLE, type ReasonBody } from "./request-schemas.ts";
import { closedObject, pageSchema, TEXT, TIME_OR_NULL, TIMESTAMP } from "./response-schemas.ts";
import { requireRightStill, rightsOf, seesTeam } from "./rights.ts";

type ById = { id: string };

const DELIVERY = closedObject("WebhookDelivery", {
  id: { ...TEXT, description: "Sent as webhook-id with every try." },
  url: TEXT,
  event: TEXT,
  keyId: { type: ["string", "null"], description: "Null for what happened to the team itself." },
  at: { ...TIMESTAMP, description: "When it happened." },
  state: { enum: ["pending", "delivered", "failed", "stopped"] },
  tries: { type: "integer" },
  nextTryAt: TIME_OR_NULL,
  triedAt: TIME_OR_NULL,
  status: { type: ["integer", "null"], description: "Of the last answer." },
  error: { type: ["string", "null"], description: "Why it was not delivered." },
});

const QUERY = { type: "object", additionalProperties: false, properties: PAGE } as const;

/** Serves the deliveries of a team's webhooks, pending deliveries included. */
export function webhookDeliveryRoutes(app: FastifyInstance, management: Management): void {
  const { store } = management;

  app.get<{ Params: ById; Querystring: PageQuery }>(
    "/teams/:id/webhook-deliveries",
    {
      config: managedRoute({
        summary: "List the deliveries of a team's webhooks, the latest first",
        response: pageSchema(DELIVERY),
      }),
      schema: { querystring: QUERY },
    },
    async (request) => {
      const rights = await rightsOf(store.db, principalOf(request));
      const team = await showObject(store.db, TEAMS, rights, request.params.id);
      const { limit, cursor } = request.query;
      const page = { teamIds: [team.id], afterId: readCursor(cursor), limit: limit + 1 };
      return pageOf((await listDeliveries(store.db, page)).map(deliveryJson), limit);
    },
  );

  app.post<{ Params: ById; Body: ReasonBody }>(
    "/webhook-deliveries/:id/redeliver",
    {
      config: managedRoute({
        summary: "Redeliver to a webhook, under the same id",
        response: DELIVERY,
        example: REASON_EXAMPLE,
        refusals: ["conflict"],
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => {
      const context = await changeContextOf(management, request, request.body);
      return deliveryJson(await redeliverByHand(context, request.params.id));
    },
  );
}

/**
 * Sends a delivery again at the caller's request.
 *
 * @throws Problem `not_found`, `forbidden`, or `conflict` if its webhook is deleted
 */
export async function redeliverByHand(
  { store, principal, rights, author }: ChangeContext,
  id: string,
): Promise<LoggedDelivery> {
  const { result } = await change(store, null, async (tx) => {
    const found = isId(id) ? await lockDelivery(tx, id) : undefined;
    if (found === undefined || !seesTeam(rights, found.teamId)) {
      throw problem("not_found", "There is no delivery of this id.");
    }
    await requireRightStill(tx, principal, found.teamId, "change the team");
    if (!(await redeliver(tx, id))) {
      throw problem("conflict", "The webhook of this delivery was deleted: it cannot be redelivered.");
    }
    const { url, event, teamId, keyId } = found;
    const detail = { delivery: id, url, event };
    await appendAudit(tx, [{ at: null, kind: "webhook.redelivered", teamId, keyId, by: author, detail }]);
    return (await lockDelivery(tx, id)) ?? found;
  });
  return result;
}

function deliveryJson({ id, url, event, keyId, at, state, tries, nextTryAt, triedAt, status, why }: LoggedDelivery) {
  const times = { nextTryAt: timeOrNull(nextTryAt), triedAt: timeOrNull(triedAt) };
  return { id, url, event, keyId, at: rfc3339Millis(at), state, tries, ...times, status, error: why };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : rfc3339Millis(ms);
}
