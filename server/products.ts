import type { Mount } from "./app.ts";
import { CONSOLE } from "./auth/session/return-to.ts";
import { sessionRoutes } from "./auth/session/routes.ts";
import { consoleRoutes } from "./console/routes.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import { homeRoutes } from "./home/routes.ts";
import { leakRoutes } from "./leaks/routes.ts";
import { managementRoutes } from "./management/routes.ts";
import { metadataRoutes } from "./mcp/metadata-routes.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import { memoryRoutes } from "./memory/routes.ts";
import { whoamiRoutes } from "./whoami/routes.ts";

/** Everything that a replica serves on its public listener (spec §8). */
export const PRODUCTS: readonly Mount[] = [
  { at: "", routes: homeRoutes },
  { at: "", routes: memoryRoutes },
  { at: "/api/v1/memory", routes: memoryRoutes },
  { at: "", routes: mcpRoutes },
  { at: "", routes: metadataRoutes },
  { at: "/api/v1", routes: managementRoutes },
  { at: "/api/v1", routes: whoamiRoutes },
  { at: "/api/v1", routes: leakRoutes },
  { at: CONSOLE, routes: sessionRoutes },
  { at: CONSOLE, routes: consoleRoutes },
  { at: "", routes: (app, deps) => gatewayRoutes(app, deps) },
];
