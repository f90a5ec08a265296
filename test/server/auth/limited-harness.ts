import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import type { RoutePlugin } from "../../../server/app.ts";
import { gatewayRoutes } from "../../../server/gateway/routes.ts";
import { allDialects } from "../gateway/gateway.ts";
import { startUpstream } from "../gateway/upstream.ts";
import { startHarness } from "../harness.ts";

/**
 * A server that a key's calls meet limits at: its memory, MCP, and the gateway `main` of all dialects.
 *
 * @param listed what a list of atoms waits for
 */
export async function startLimited(listed: () => Promise<void> = async () => {}) {
  const atoms: RoutePlugin = (app) => {
    app.get("/atoms", { config: { operation: "atoms.list" } }, async () => {
      await listed();
      return { items: [] };
    });
    app.post("/atoms", { config: { operation: "atoms.create" } }, async () => ({}));
  };
  const upstream = await startUpstream();
  const harness = await startHarness({
    mounts: [atoms, gatewayRoutes, mcpRoutes].map((routes) => ({ at: "", routes })),
  });
  harness.addGateway({ publicId: "main", ...allDialects(upstream.url) });
  const call = (key: string, path = "/atoms", init: RequestInit = {}): Promise<Response> =>
    fetch(harness.url + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
  return {
    harness,
    call,
    post(key: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
      const type = { "content-type": "application/json", ...headers };
      return call(key, path, { method: "POST", headers: type, body: JSON.stringify(body) });
    },
    async close(): Promise<void> {
      await harness.close();
      await upstream.close();
    },
  };
}
