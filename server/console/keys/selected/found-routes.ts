import type { FastifyInstance } from "fastify";
import { identifyKeys } from "../../../../store/keys/search/identified-keys.ts";
import { clusterNames } from "../../../../store/objects/cluster-names.ts";
import { principalOf } from "../../../auth/management/author.ts";
import { managedBodyHolder } from "../../../auth/management/body-holder.ts";
import type { Management } from "../../../management/context.ts";
import { showKeys } from "../../../management/keys/shown/shown-key.ts";
import { requestedTeams } from "../../../management/requested-teams.ts";
import { rightsOf } from "../../../management/rights.ts";
import type { ServerDeps } from "../../../product/deps.ts";
import { fileNameAt, sendAttachment } from "../../attachment.ts";
import { checkSameTeams, type StartExport } from "../../exports.ts";
import { readListQuery } from "../list/list-query.ts";
import { keySearchOf } from "../list/list-search.ts";
import { foundCsv } from "./export-found.ts";

/** Serves a file of all keys that the list's filters find. */
export function foundKeyRoutes(
  app: FastifyInstance,
  { store, clock, receipts }: Management,
  deps: ServerDeps,
  startExport: StartExport,
): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/keys/found.csv",
    { config: { console: true } },
    async (request, reply) => {
      const query = readListQuery(request.query);
      const principal = principalOf(request);
      const teamIds = await requestedTeams(store.db, await rightsOf(store.db, principal), query.team);
      const now = clock.now();
      const receiptOf = await receipts.read();
      const pieces = foundCsv({
        db: store.db,
        search: await keySearchOf(store.db, query, teamIds, now),
        identified: query.text === "" ? [] : await identifyKeys(store.db, query.text, teamIds),
        clusters: await clusterNames(store.db),
        show: (keys) => showKeys({ db: store.db, receiptOf, now }, keys),
        checkAgain: () => checkSameTeams(deps, request, query.team, teamIds),
      });
      const { teamId } = managedBodyHolder(deps.index, principal);
      const file = startExport({ actor: principal.actor, teamId, pieces });
      file.once("error", (error) => deps.log.warn({ error }, "an export of keys was aborted"));
      return sendAttachment(reply, { name: fileNameAt("keys", now, "csv"), type: "text/csv" }, file);
    },
  );
}
