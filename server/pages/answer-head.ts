import type { FastifyInstance } from "fastify";

/**
 * Has every page that is added from now on answer HEAD as GET, without the body: what checks links and watches pages
 * asks so. Pages change nothing, whichever of both asks for them.
 */
export function answerHead(app: FastifyInstance): void {
  app.addHook("onRoute", (route) => {
    if (route.method === "GET") app.route({ ...route, method: "HEAD", url: route.routePath });
  });
}
