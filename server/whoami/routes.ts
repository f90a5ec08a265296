import type { FastifyInstance } from "fastify";
import { validateStrictly } from "../http/validation.ts";
import { callInSlot } from "../libraries/call-memory.ts";
import { ACCESS, ACCESS_QUESTION, type AccessQuestion, reviewAccess } from "../management/keys/access/review-access.ts";
import type { ServerDeps } from "../product/deps.ts";
import { WHOAMI } from "./response-schema.ts";
import { whoami } from "./whoami.ts";

/**
 * Serves what the holder of a key may know of it (docs/reference/management-api.md). The request is decided, counted
 * and charged to the key's rate limit like any other: a caller learns no more by it than by using the key. It queries
 * the database in a slot of the team, as the memory does.
 */
export function whoamiRoutes(app: FastifyInstance, deps: ServerDeps): void {
  validateStrictly(app);
  app.get(
    "/whoami",
    { config: { operation: "key.whoami", docs: { summary: "Say what the key is, and may do", response: WHOAMI } } },
    (request, reply) => {
      reply.header("cache-control", "no-store");
      return callInSlot(deps, request, reply, whoami);
    },
  );

  app.get<{ Querystring: AccessQuestion }>(
    "/whoami/access",
    {
      config: {
        operation: "key.whoami",
        docs: { summary: "Say whether the key may use a scope, and why", response: ACCESS },
      },
      // A key may be in the query, too.
      schema: { querystring: { ...ACCESS_QUESTION, properties: { ...ACCESS_QUESTION.properties, key: {} } } },
    },
    (request, reply) => {
      reply.header("cache-control", "no-store");
      return callInSlot(deps, request, reply, (db, key) => reviewAccess(deps, db, key, request.query));
    },
  );
}
