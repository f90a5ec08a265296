import type { Server } from "node:net";
import { pause } from "../runtime/deadline.ts";
import { createGrpcServer } from "../server/authz/grpc-server.ts";
import { createVerifierServer } from "../server/authz/verifier-server.ts";
import type { AuthzConfig } from "../server/context/config.ts";
import { trackConnections } from "../server/http/connections/open-connections.ts";
import type { ServerDeps } from "../server/product/deps.ts";
import { type Listener, leaveIdleOpen, listenerPort, listenerUrl } from "./public-listener.ts";

/**
 * Makes the listener for external authorization by HTTP of one thread; undefined if the configuration has none.
 *
 * @throws ConfigError if its certificate or its token cannot be had
 */
export async function createAuthzListener(deps: ServerDeps): Promise<Listener | undefined> {
  const { authz } = deps.config;
  if (authz === null || authz.port === null) return undefined;
  const { server, end } = await createVerifierServer(deps, authz);
  const stop = () => {
    leaveIdleOpen(server);
    server.prependListener("request", (_question, response) => {
      response.shouldKeepAlive = false;
    });
  };
  return listenerOf(server, authz, { stop, end });
}

/** Makes the listener for external authorization by gRPC, as {@link createAuthzListener} does for HTTP. */
export async function createGrpcListener(deps: ServerDeps): Promise<Listener | undefined> {
  const { authz } = deps.config;
  if (authz === null || authz.grpcPort === null) return undefined;
  const { server, sessions, end } = await createGrpcServer(deps, authz);
  const stop = () => {
    for (const session of sessions) session.close();
  };
  return listenerOf(server, authz, { stop, end });
}

/**
 * Returns how a server of a verifier listens, where, and how it ends.
 *
 * @param stop has open connections take at most the questions that are on their way
 * @param end ends the reading of its files
 */
function listenerOf(
  server: Server,
  { host, tls }: AuthzConfig,
  { stop, end }: { readonly stop: () => void; end(): Promise<void> },
): Listener {
  const closeAll = trackConnections(server);
  return {
    async listen(port, shared) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.once("error", reject);
      server.listen({ host, port, ...(shared && { reusePort: true }) }, resolve);
      await promise;
    },
    url: () => listenerUrl(tls === null ? "http" : "https", server),
    port: () => listenerPort(server),
    async drain(graceMs) {
      if (server.listening) {
        const closed = Promise.withResolvers<void>();
        stop();
        server.close(() => closed.resolve());
        await pause(graceMs, closed.promise);
        closeAll();
        await closed.promise;
      }
      await end();
    },
  };
}
