import type { FastifyInstance } from "fastify";
import { nearBudgets } from "../../../store/budgets/near-budgets.ts";
import { leaderScopes } from "../../../store/database/change.ts";
import { refusedCredentials, silentUpstreams } from "../../../store/gateways/upstream-outcomes.ts";
import { livingLeaks } from "../../../store/keys/events/key-leaks.ts";
import { clusterNames } from "../../../store/objects/cluster-names.ts";
import { replicaHealth } from "../../../store/replicas/replica-health.ts";
import { listDeliveries } from "../../../store/webhooks/delivery-log.ts";
import { principalOf } from "../../auth/management/author.ts";
import { problem } from "../../http/problems/problem.ts";
import type { Management } from "../../management/context.ts";
import { rightsOf } from "../../management/rights.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { nowContent, ROWS } from "./now-page.ts";

/** Maximum number of budgets that are read: more than a person reads. */
const MOST_BUDGETS = 200;

/** Serves the health of the installation, for those who run it: the page to look at first when something is wrong. */
export function nowRoutes(app: FastifyInstance, { store, clock }: Management): void {
  app.get("/now", { config: { console: true } }, async (request, reply) => {
    const { db } = store;
    if (typeof (await rightsOf(db, principalOf(request))) !== "string") throw NOT_THERE;
    const now = clock.now();
    const content = nowContent({
      servers: await replicaHealth(db),
      scopes: await leaderScopes(db),
      clusters: await clusterNames(db),
      leaks: await livingLeaks(db),
      refused: await refusedCredentials(db),
      silent: await silentUpstreams(db, ROWS + 1),
      failed: await listDeliveries(db, { teamIds: undefined, afterId: undefined, limit: ROWS + 1, onlyFailed: true }),
      budgets: await nearBudgets(db, now, MOST_BUDGETS),
      now,
    });
    return sendConsolePage(request, reply, { title: "Health", section: "now", content });
  });
}

const NOT_THERE = problem("not_found", "There is no such page for you: it is for those who run the installation.");
