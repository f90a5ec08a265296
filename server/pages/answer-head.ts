import type { FastifyInstance } from "fastify";

/**
 * Has every page that is added from now on answer HEAD like GET, without the body, for programs that check links and
 * watch pages. Pages change nothing by either method.
 */
export function answerHead(app: FastifyInstance): void {
  app.addHook("onRoute", (route) => {
    if (route.method === "GET") app.route({ ...route, method: "HEAD", url: route.routePath });
  });
}
