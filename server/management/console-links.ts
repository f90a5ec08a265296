import type { FastifyInstance, FastifyRequest } from "fastify";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { authorOf, principalOf } from "../auth/management/author.ts";
import { makeOneTimeLink } from "../auth/session/one-time-link.ts";
import { reachedAt } from "../auth/session/reached-at.ts";
import { problem } from "../http/problems/problem.ts";
import type { ServerDeps } from "../product/deps.ts";
import { managedRoute } from "./managed-route.ts";
import { closedObject, TEXT, TIMESTAMP } from "./response-schemas.ts";

const LINK = closedObject("ConsoleLink", {
  url: { ...TEXT, description: "Signs in the person who opens it first, as the installation's own." },
  expiresAt: TIMESTAMP,
});

/** Serves the link by which people without an issuer sign in to the console. */
export function consoleLinkRoutes(app: FastifyInstance, deps: ServerDeps): void {
  app.post(
    "/console-links",
    {
      config: managedRoute({
        summary: "Make a link that signs in to the console, once within ten minutes: by the installation's token alone",
        status: 201,
        response: LINK,
      }),
    },
    async (request, reply) => {
      requireToken(deps, request);
      const { url, expiresAt } = await makeOneTimeLink(
        deps.store,
        reachedAt(request, deps.config),
        authorOf(request, undefined),
      );
      return reply.code(201).send({ url, expiresAt: rfc3339Millis(expiresAt) });
    },
  );
}

/**
 * Requires the installation's token. If a session could make links, its holder could sign in again for ever, and so
 * could the bearer of a JWT who has lost their role.
 */
function requireToken({ managementToken }: ServerDeps, request: FastifyRequest): void {
  const { actor, as } = principalOf(request);
  if (as === "everything" && actor === managementToken?.actor) return;
  throw problem(
    "forbidden",
    "Only the token of an installation that has no issuer makes links: sign in by the issuer.",
  );
}
