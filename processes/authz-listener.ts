import type { Server } from "node:http";
import type { Server as AnyServer } from "node:net";
import { pause } from "../runtime/deadline.ts";
import { createGrpcServer } from "../server/authz/grpc-server.ts";
import { createVerifierServer } from "../server/authz/verifier-server.ts";
import type { AuthzConfig } from "../server/context/config.ts";
import type { ServerDeps } from "../server/product/deps.ts";
import { type Listener, listenerPort, listenerUrl } from "./public-listener.ts";

/**
 * Makes the listener for external authorization by HTTP of one thread; undefined if the configuration has none.
 *
 * @throws ConfigError if its certificate or its token cannot be had
 */
export async function createAuthzListener(deps: ServerDeps): Promise<Listener | undefined> {
  const { authz } = deps.config;
  if (authz === null || authz.port === null) return undefined;
  const { server, end } = await createVerifierServer(deps, authz);
  return {
    ...listening(server, authz),
    async drain(graceMs) {
      if (server.listening) await closed(server, graceMs);
      await end();
    },
  };
}

/** Makes the listener for external authorization by gRPC, as {@link createAuthzListener} does for HTTP. */
export async function createGrpcListener(deps: ServerDeps): Promise<Listener | undefined> {
  const { authz } = deps.config;
  if (authz === null || authz.grpcPort === null) return undefined;
  const { server, sessions, end } = await createGrpcServer(deps, authz);
  return {
    ...listening(server, authz),
    async drain(graceMs) {
      if (server.listening) await sessionsClosed(server, sessions, graceMs);
      await end();
    },
  };
}

/** Returns how a server of a verifier listens, and where. */
function listening(server: AnyServer, { host, tls }: AuthzConfig): Omit<Listener, "drain"> {
  return {
    async listen(port, shared) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.once("error", reject);
      server.listen({ host, port, ...(shared && { reusePort: true }) }, resolve);
      await promise;
    },
    url: () => listenerUrl(tls === null ? "http" : "https", server),
    port: () => listenerPort(server),
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

/** Closes a server of HTTP/2 likewise, whose proxies open no more streams. */
async function sessionsClosed(
  server: AnyServer,
  sessions: Awaited<ReturnType<typeof createGrpcServer>>["sessions"],
  graceMs: number,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  server.close(() => ended.resolve());
  for (const session of sessions) session.close();
  await pause(graceMs, ended.promise);
  for (const session of sessions) session.destroy();
  await ended.promise;
}
