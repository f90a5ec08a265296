import type { RouteDocs } from "../openapi/route-docs.ts";

/**
 * Returns the configuration of a route of the management API: it takes management callers, and has this description.
 */
export function managedRoute(docs: RouteDocs): { readonly management: true; readonly docs: RouteDocs } {
  return { management: true, docs };
}
