import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ServerDeps } from "../product/deps.ts";

/** Path at which load balancers ask whether this replica should get requests. */
const PATH = "/readyz";

/**
 * Serves the readiness of the admin port on the public port, for load balancers that reach no other: 200 while this
 * replica decides, else 503. It takes any Host, since a load balancer asks an address, and says nothing else.
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
