import { memoryProduct } from "../memory/memory.ts";
import type { Mount } from "../server/app.ts";
import { CONSOLE } from "../server/auth/session/return-to.ts";
import { sessionRoutes } from "../server/auth/session/routes.ts";
import { consoleRoutes } from "../server/console/routes.ts";
import { gatewayRoutes } from "../server/gateway/routes.ts";
import { readinessRoute } from "../server/home/readiness-route.ts";
import { homeRoutes } from "../server/home/routes.ts";
import { leakRoutes } from "../server/leaks/routes.ts";
import { managementRoutes } from "../server/management/routes.ts";
import { whoamiRoutes } from "../server/whoami/routes.ts";

/**
 * Returns everything that a replica serves on its public listener (spec §8).
 *
 * @param memory by default, a memory whose searches go by words alone
 */
export function products(memory = memoryProduct()): readonly Mount[] {
  return [
    { at: "", routes: homeRoutes },
    { at: "", routes: readinessRoute },
    ...memory.mounts,
    { at: "/api/v1", routes: managementRoutes },
    { at: "/api/v1", routes: whoamiRoutes },
    { at: "/api/v1", routes: leakRoutes },
    { at: CONSOLE, routes: sessionRoutes },
    { at: CONSOLE, routes: (app, deps) => consoleRoutes(app, deps, [memory.pages]) },
    { at: "", routes: (app, deps) => gatewayRoutes(app, deps) },
  ];
}
