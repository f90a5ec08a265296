import type { FastifyInstance } from "fastify";
import { findKeyInUse } from "../../../../store/keys/rows/key-in-use.ts";
import { principalOf } from "../../../auth/management/author.ts";
import { STALE_VIEW } from "../../../http/problems/problem-of.ts";
import type { ServerDeps } from "../../../product/deps.ts";
import { managedRoute } from "../../managed-route.ts";
import { rightsOf, seesTeam } from "../../rights.ts";
import { type KeyIdParams, keyIdOf } from "../request/key-request.ts";
import { NO_KEY } from "../request/requirements.ts";
import { ACCESS, ACCESS_QUESTION, type AccessQuestion, reviewAccess } from "./review-access.ts";

/** Serves the question whether a key may use a scope, for those who look after the key and do not hold it. */
export function keyAccessRoutes(app: FastifyInstance, { store, index }: ServerDeps): void {
  app.get<{ Params: KeyIdParams; Querystring: AccessQuestion }>(
    "/keys/:id/access",
    {
      config: managedRoute({
        summary: "Say whether a key may use a scope, by its version in use, and why",
        response: ACCESS,
        refusals: ["unavailable"],
      }),
      schema: { querystring: ACCESS_QUESTION },
    },
    async (request) => {
      const id = keyIdOf(request);
      const rights = await rightsOf(store.db, principalOf(request));
      const found = await findKeyInUse(store.db, id);
      if (found === undefined || !seesTeam(rights, found.key.teamId)) throw NO_KEY;
      // Gateways are decided by this replica's index.
      if (request.query.gateway !== undefined && !index.isCurrent()) throw STALE_VIEW;
      return reviewAccess({ index, clock: { now: () => found.now } }, store.db, found.key, request.query);
    },
  );
}
