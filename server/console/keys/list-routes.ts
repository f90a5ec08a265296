import type { FastifyInstance } from "fastify";
import { clusterNames } from "../../../store/cluster-names.ts";
import { findKeys, identifyKeys, searchKeys } from "../../../store/keys/key-search.ts";
import { principalOf } from "../../auth/management/author.ts";
import type { Management } from "../../management/context.ts";
import { showKeys } from "../../management/keys/shown-key.ts";
import { requestedTeams } from "../../management/requested-teams.ts";
import { mayInSomeTeam, type Rights, rightsOf, visibleTeams } from "../../management/rights.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { offeredTeams } from "../team-field.ts";
import { listContent } from "./list-page.ts";
import { type KeyListFilters, readListQuery } from "./list-query.ts";

const PAGE = 50;

/** The list of keys. */
export function keyListRoutes(app: FastifyInstance, { store, clock, receipts }: Management): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/keys",
    { config: { console: true } },
    async (request, reply) => {
      const query = readListQuery(request.query);
      const principal = principalOf(request);
      const rights = await rightsOf(store.db, principal);
      const found = await find(query, rights);
      const [only, ...others] = found.keys;
      // A prefix from a log leads to its key in one step; while a person types (htmx), the key is the first row.
      if (found.isExact && only !== undefined && others.length === 0 && request.headers["hx-request"] === undefined) {
        return reply.redirect(`/dashboard/keys/${only.id}`, 303);
      }
      const now = clock.now();
      const list = {
        query,
        keys: await showKeys({ db: store.db, receiptOf: await receipts.read(), now }, found.keys),
        next: found.next,
        clusters: await clusterNames(store.db),
        isPartial: found.isPartial,
        teams: await offeredTeams(store.db, rights),
        outsider: typeof principal.as !== "string" && visibleTeams(rights)?.length === 0 ? principal.as : null,
        mayCreate: mayInSomeTeam(rights, "make keys"),
        now,
      };
      return sendConsolePage(request, reply, { title: "API keys", section: "keys", content: listContent(list) });
    },
  );

  /** What a text identifies exactly comes before what it is a part of the name of. */
  async function find(query: KeyListFilters, rights: Rights) {
    const { text, state, scope, trait, team, order, after } = query;
    const teamIds = await requestedTeams(store.db, rights, team);
    const ids = text === "" || after !== undefined ? [] : await identifyKeys(store.db, text, teamIds);
    if (ids.length > 0) {
      return { keys: await findKeys(store.db, ids), next: null, isPartial: false, isExact: true };
    }
    const at = clock.now();
    const found = await searchKeys(store.db, {
      // A prefix has capital letters, and a name has none.
      ...{ name: text.toLowerCase(), teamIds, order, after, limit: PAGE },
      ...{ state: state && { is: state, at }, scope, trait: trait && { is: trait, at } },
    });
    return { ...found, isExact: false };
  }
}
