import type { Mount, RoutePlugin } from "../server/app.ts";
import { CONSOLE } from "../server/auth/session/return-to.ts";
import { sessionRoutes } from "../server/auth/session/routes.ts";
import { libraryRoutes } from "../server/console/libraries/library-routes.ts";
import { consoleRoutes } from "../server/console/routes.ts";
import { type QuestionEmbedder, WORDS_ALONE } from "../server/embedding/question.ts";
import { gatewayRoutes } from "../server/gateway/routes.ts";
import { readinessRoute } from "../server/home/readiness-route.ts";
import { homeRoutes } from "../server/home/routes.ts";
import { leakRoutes } from "../server/leaks/routes.ts";
import { managementRoutes } from "../server/management/routes.ts";
import { metadataRoutes } from "../server/mcp/metadata-routes.ts";
import { mcpRoutes } from "../server/mcp/routes.ts";
import { memoryRoutes } from "../server/memory/routes.ts";
import { whoamiRoutes } from "../server/whoami/routes.ts";

/**
 * Everything that a replica serves on its public listener (spec §8).
 *
 * @param questions embeds the questions of the memory's searches
 */
export function products(questions: QuestionEmbedder = WORDS_ALONE): readonly Mount[] {
  const memory: RoutePlugin = (app, deps) => memoryRoutes(app, deps, questions);
  return [
    { at: "", routes: homeRoutes },
    { at: "", routes: readinessRoute },
    { at: "", routes: memory },
    { at: "/api/v1/memory", routes: memory },
    { at: "", routes: (app, deps) => mcpRoutes(app, deps, questions) },
    { at: "", routes: metadataRoutes },
    { at: "/api/v1", routes: managementRoutes },
    { at: "/api/v1", routes: whoamiRoutes },
    { at: "/api/v1", routes: leakRoutes },
    { at: CONSOLE, routes: sessionRoutes },
    { at: CONSOLE, routes: (app, deps) => consoleRoutes(app, deps, [libraryRoutes]) },
    { at: "", routes: (app, deps) => gatewayRoutes(app, deps) },
  ];
}
