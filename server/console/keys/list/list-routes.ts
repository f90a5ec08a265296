import type { FastifyInstance } from "fastify";
import type { BoundedCount } from "../../../../store/database/bounded-count.ts";
import type { LoadedKey } from "../../../../store/keys/rows/key-rows.ts";
import { identifyKeys } from "../../../../store/keys/search/identified-keys.ts";
import { countKeys, searchAndCountKeys } from "../../../../store/keys/search/key-count.ts";
import { readKeyListNames } from "../../../../store/keys/search/key-names.ts";
import type { KeyPosition } from "../../../../store/keys/search/key-orders.ts";
import { findKeys, type KeySearch, searchKeys } from "../../../../store/keys/search/key-search.ts";
import { readConditions } from "../../../../store/objects/object-conditions.ts";
import { principalOf } from "../../../auth/management/author.ts";
import type { Management } from "../../../management/context.ts";
import { keyRowJson } from "../../../management/keys/shown/key-json.ts";
import { requestedTeams } from "../../../management/requested-teams.ts";
import { mayInSomeTeam, type Rights, rightsOf, visibleTeams } from "../../../management/rights.ts";
import { sendConsolePage } from "../../../pages/send-page.ts";
import { listContent } from "./list-page.ts";
import { type KeyListFilters, readListQuery } from "./list-query.ts";
import { keySearchOf } from "./list-search.ts";

const PAGE = 50;

/** Serves the list of keys. */
export function keyListRoutes(app: FastifyInstance, { store, clock }: Management): void {
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
      const { clusters, offered, ...names } = await readKeyListNames(store.db, found.keys, visibleTeams(rights));
      const list = {
        query,
        keys: found.keys.map((key) => keyRowJson(key, { names, now })),
        next: found.next,
        previous: found.previous,
        conditions: await readConditions(store.db, "key", declaredIds(found.keys)),
        clusters,
        isPartial: found.isPartial,
        total: found.total,
        teams: offered,
        outsider: typeof principal.as !== "string" && visibleTeams(rights)?.length === 0 ? principal.as : null,
        mayCreate: mayInSomeTeam(rights, "make keys"),
        mayExport: mayInSomeTeam(rights, "change keys"),
        mayRevoke: mayInSomeTeam(rights, "revoke keys"),
        now,
      };
      return sendConsolePage(request, reply, { title: "API keys", section: "keys", content: listContent(list) });
    },
  );

  /** Finds the keys of a page. Keys that the text identifies exactly come before keys with the text in their name. */
  async function find(query: KeyListFilters, rights: Rights) {
    const { text, team, after, before } = query;
    const teamIds = await requestedTeams(store.db, rights, team);
    const ids =
      text === "" || after !== undefined || before !== undefined ? [] : await identifyKeys(store.db, text, teamIds);
    if (ids.length > 0) {
      const keys = await findKeys(store.db, ids);
      return { keys, next: null, previous: null, isPartial: false, isExact: true, total: exactly(keys.length) };
    }
    const search = { ...(await keySearchOf(store.db, query, teamIds, clock.now())), after, limit: PAGE };
    return { ...(await pageOf(search, before)), isExact: false };
  }

  async function pageOf(search: KeySearch, before: KeyPosition | undefined) {
    if (before !== undefined) {
      const backward = { ...search, after: before, isBackward: true };
      const { keys, positions, next, isPartial } = await searchKeys(store.db, backward);
      // If nothing comes before these, the first page is shown, which is full.
      if (next !== null) {
        const total = await countKeys(store.db, search);
        return { keys, next: positions.at(-1) ?? before, previous: next, isPartial, total };
      }
    }
    const { keys, positions, next, isPartial, total } = await searchAndCountKeys(store.db, search);
    return {
      keys,
      next,
      previous: search.after === undefined ? null : (positions[0] ?? search.after),
      isPartial,
      total,
    };
  }
}

function declaredIds(keys: readonly Pick<LoadedKey, "id" | "hasConditions">[]): string[] {
  return keys.filter(({ hasConditions }) => hasConditions).map(({ id }) => id);
}

function exactly(count: number): BoundedCount {
  return { count, is: "exact" };
}
