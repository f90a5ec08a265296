import type { FastifyInstance } from "fastify";
import { listKeys } from "../../../../store/keys/search/key-lists.ts";
import { principalOf } from "../../../auth/management/author.ts";
import type { Management } from "../../context.ts";
import { managedRoute } from "../../managed-route.ts";
import { pageOf, readCursor } from "../../paging.ts";
import { withEtag } from "../../preconditions.ts";
import { pageSchema } from "../../response-schemas.ts";
import { rightsOf, visibleTeams } from "../../rights.ts";
import { type KeyIdParams, keyIdOf } from "../request/key-request.ts";
import { KEY_LIST_QUERY, type KeyListQuery, MANIFEST_QUERY, type ManifestQuery } from "../request/request-schemas.ts";
import { exportKey } from "./export-key.ts";
import { KEY, KEY_MANIFEST } from "./response-schemas.ts";
import { showKey, showKeys } from "./shown-key.ts";

/** Serves keys for reading, wherever they are declared. */
export function keyReadRoutes(app: FastifyInstance, { store, clock, receipts }: Management): void {
  app.get<{ Querystring: KeyListQuery }>(
    "/keys",
    {
      config: managedRoute({ summary: "List keys, revoked ones too", response: pageSchema(KEY) }),
      schema: { querystring: KEY_LIST_QUERY },
    },
    async (request) => {
      const { limit, cursor, state, ...named } = request.query;
      const keys = await listKeys(store.db, {
        ...named,
        teamIds: visibleTeams(await rightsOf(store.db, principalOf(request))),
        state: state && { is: state, at: clock.now() },
        limit: limit + 1,
        afterId: readCursor(cursor),
      });
      return pageOf(await showKeys({ db: store.db, receiptOf: await receipts.read(), now: clock.now() }, keys), limit);
    },
  );

  app.get<{ Params: KeyIdParams }>(
    "/keys/:id",
    { config: managedRoute({ summary: "Read a key", response: KEY, etag: true }) },
    async (request, reply) => {
      const rights = await rightsOf(store.db, principalOf(request));
      const id = keyIdOf(request);
      const receiptOf = await receipts.read();
      return withEtag(reply, await showKey({ db: store.db, receiptOf, now: clock.now() }, rights, id));
    },
  );

  app.get<{ Params: KeyIdParams; Querystring: ManifestQuery }>(
    "/keys/:id/manifest",
    {
      config: managedRoute({
        summary: "Export a key that was made here as a PlatformKey which takes it over",
        response: KEY_MANIFEST,
        refusals: ["conflict", "managed", "invalid"],
      }),
      schema: { querystring: MANIFEST_QUERY },
    },
    async (request) => {
      const rights = await rightsOf(store.db, principalOf(request));
      return (await exportKey(store.db, rights, keyIdOf(request), request.query.namespace)).manifest;
    },
  );
}
