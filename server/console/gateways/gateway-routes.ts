import type { FastifyInstance } from "fastify";
import { countBoundKeys, upstreamStates } from "../../../store/gateways/upstream-outcomes.ts";
import { clusterNames } from "../../../store/objects/cluster-names.ts";
import { readConditions } from "../../../store/objects/object-conditions.ts";
import { listObjects } from "../../../store/objects/objects.ts";
import { principalOf } from "../../auth/management/author.ts";
import { reachedAt } from "../../auth/session/reached-at.ts";
import type { ServerConfig } from "../../context/config.ts";
import type { Management } from "../../management/context.ts";
import { pageOf } from "../../management/paging.ts";
import { requestedTeams } from "../../management/requested-teams.ts";
import { rightsOf } from "../../management/rights.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { refName } from "../keys/key-words.ts";
import { queryText, readAfterId } from "../query-text.ts";
import { seeObject } from "../seen-object.ts";
import { offeredTeams } from "../team-field.ts";
import { seeUsage } from "../usage/see-usage.ts";
import { usageRange } from "../usage/usage-ranges.ts";
import { gatewayContent } from "./gateway-page.ts";
import { type GatewayFigures, gatewaysContent } from "./gateways-page.ts";

const PAGE = 50;

/**
 * Serves pages of gateways: their routes, and the last known state of their upstreams. Of a credential they show only
 * that it exists.
 */
export function gatewayPageRoutes(
  app: FastifyInstance,
  { store, clock, prices }: Management,
  config: Pick<ServerConfig, "publicUrl">,
): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/gateways",
    { config: { console: true } },
    async (request, reply) => {
      const query = { team: queryText(request.query.team), afterId: readAfterId(request.query.after) };
      const rights = await rightsOf(store.db, principalOf(request));
      const teamIds = await requestedTeams(store.db, rights, query.team);
      const found = await listObjects(store.db, "gateway", { teamIds, afterId: query.afterId, limit: PAGE + 1 });
      const { items: shown, nextCursor: nextId } = pageOf(found, PAGE);
      const list = {
        ...{ query, nextId },
        clusters: await clusterNames(store.db),
        gateways: shown.toSorted((a, b) => (refName(a) < refName(b) ? -1 : 1)),
        teams: await offeredTeams(store.db, rights),
        ...(await figuresOf(shown.map(({ id }) => id))),
      };
      return sendConsolePage(request, reply, {
        title: "Gateways",
        section: "gateways",
        content: gatewaysContent(list),
      });
    },
  );

  app.get<{ Params: { id: string }; Querystring: Readonly<Record<string, unknown>> }>(
    "/gateways/:id",
    { config: { console: true } },
    async (request, reply) => {
      const rights = await rightsOf(store.db, principalOf(request));
      const gateway = await seeObject(store.db, "gateway", rights, request.params.id);
      // No other team's keys may call it, and a team's usage is found by an index.
      const used = { gatewayIds: [gateway.id], teamIds: [gateway.teamId], prices: prices.current() };
      const page = {
        gateway,
        clusters: await clusterNames(store.db),
        publicUrl: reachedAt(request, config),
        usage: await seeUsage(store.db, clock.now(), usageRange(request.query.usage), used, ["key", "model"]),
        now: clock.now(),
        ...(await figuresOf([gateway.id])),
      };
      return sendConsolePage(request, reply, {
        title: refName(gateway),
        section: "gateways",
        content: gatewayContent(page),
      });
    },
  );

  async function figuresOf(ids: readonly string[]): Promise<GatewayFigures> {
    const [states, boundKeys, conditions] = await Promise.all([
      upstreamStates(store.db, ids),
      countBoundKeys(store.db, ids),
      readConditions(store.db, "gateway", ids),
    ]);
    return {
      conditions,
      boundKeys,
      stateOf: (gatewayId, upstream) =>
        states.find((state) => state.gatewayId === gatewayId && state.upstream === upstream),
    };
  }
}
