import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ServerDeps } from "../product/deps.ts";

/** Where load balancers ask whether this replica should be given requests. */
const PATH = "/readyz";

/**
 * The readiness of the admin port on the public one, for load balancers that reach no other: 200 while this replica
 * decides, else 503. It takes any Host, since a load balancer asks an address, and says nothing else.
 */
export function readinessRoute(app: FastifyInstance, { index }: Pick<ServerDeps, "index">): void {
  app.route({
    method: ["GET", "HEAD"],
    url: PATH,
    config: { public: true },
    handler(_request: FastifyRequest, reply: FastifyReply) {
      const isReady = index.isCurrent();
      reply
        .code(isReady ? 200 : 503)
        .headers({ "cache-control": "no-store", "content-type": "text/plain; charset=utf-8" });
      return reply.send(isReady ? "ok\n" : "not ready\n");
    },
  });
}
