import type { Mount, RoutePlugin } from "./app.ts";
import { CONSOLE } from "./auth/session/return-to.ts";
import { sessionRoutes } from "./auth/session/routes.ts";
import { libraryRoutes } from "./console/libraries/library-routes.ts";
import { consoleRoutes } from "./console/routes.ts";
import { type QuestionEmbedder, WORDS_ALONE } from "./embedding/question.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import { readinessRoute } from "./home/readiness-route.ts";
import { homeRoutes } from "./home/routes.ts";
import { leakRoutes } from "./leaks/routes.ts";
import { managementRoutes } from "./management/routes.ts";
import { metadataRoutes } from "./mcp/metadata-routes.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import { memoryRoutes } from "./memory/routes.ts";
import { whoamiRoutes } from "./whoami/routes.ts";

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
