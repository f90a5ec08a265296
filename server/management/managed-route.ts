import type { RouteDocs } from "../openapi/route-docs.ts";

/** What a route of the management API declares: whom it lets in, and its description. */
export function managedRoute(docs: RouteDocs): { readonly management: true; readonly docs: RouteDocs } {
  return { management: true, docs };
}
