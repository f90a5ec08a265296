import type { FastifyInstance } from "fastify";
import { reachedAt } from "../auth/session/reached-at.ts";
import { cachedText } from "../http/answers/cached-text.ts";
import { refuseForeignHosts } from "../http/host-check.ts";
import { OPENAPI_TAGS, referencePath } from "../openapi/areas.ts";
import { answerHead } from "../pages/answer-head.ts";
import { protectPages } from "../pages/headers.ts";
import { showErrors } from "../pages/problem-page.ts";
import { sendPage } from "../pages/send-page.ts";
import type { ServerDeps } from "../product/deps.ts";
import { areaPage } from "./area-page.ts";
import { docsPage } from "./docs-page.ts";
import { landingPage } from "./landing-page.ts";

const HTML = "text/html; charset=utf-8";

/**
 * Serves the public pages (spec §8): what runs here, and how it is called. They read no session and query no database.
 */
export function homeRoutes(app: FastifyInstance, { config, log }: ServerDeps): void {
  protectPages(app, config);
  app.addHook("onRequest", refuseForeignHosts(config));
  showErrors(app, log);
  answerHead(app);
  app.get("/", { config: { public: true } }, (request, reply) =>
    sendPage(reply, landingPage(reachedAt(request, config))),
  );
  app.get(
    "/docs",
    { config: { public: true } },
    cachedText(
      HTML,
      (base) => String(docsPage(app.describeApi(), base)),
      (request) => reachedAt(request, config),
    ),
  );
  for (const tag of OPENAPI_TAGS) {
    app.get(
      referencePath(tag.name),
      { config: { public: true } },
      cachedText(HTML, () => String(areaPage(app.describeApi(), tag))),
    );
  }
}
