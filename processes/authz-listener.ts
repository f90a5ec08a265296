import type { Server } from "node:http";
import { pause } from "../runtime/deadline.ts";
import { createVerifierServer } from "../server/authz/verifier-server.ts";
import type { ServerDeps } from "../server/product/deps.ts";
import { type Listener, listenerPort, listenerUrl } from "./public-listener.ts";

/**
 * Makes the listener for external authorization of one thread; undefined if the configuration has none.
 *
 * @throws ConfigError if its certificate or its token cannot be had
 */
export async function createAuthzListener(deps: ServerDeps): Promise<Listener | undefined> {
  const { authz } = deps.config;
  if (authz === null) return undefined;
  const { server, end } = await createVerifierServer(deps, authz);
  return {
    async listen(port, shared) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.once("error", reject);
      server.listen({ host: authz.host, port, ...(shared && { reusePort: true }) }, resolve);
      await promise;
    },
    url: () => listenerUrl(authz.tls === null ? "http" : "https", server),
    port: () => listenerPort(server),
    async drain(graceMs) {
      if (server.listening) await closed(server, graceMs);
      await end();
    },
  };
}

/** Closes a server whose questions under way get so many milliseconds. */
async function closed(server: Server, graceMs: number): Promise<void> {
  const ended = Promise.withResolvers<void>();
  server.close(() => ended.resolve());
  await pause(graceMs, ended.promise);
  server.closeAllConnections();
  await ended.promise;
}
