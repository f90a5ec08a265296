import type { Server as HttpServer } from "node:http";
import type { Server } from "node:net";
import { pause } from "../runtime/deadline.ts";
import { buildApp, type Mount } from "../server/app.ts";
import type { StreamRegistry } from "../server/calls/open-streams.ts";
import { callableAddress } from "../server/http/connections/all-addresses.ts";
import { readCertificate, renewCertificate } from "../server/http/connections/certificate.ts";
import { trackConnections } from "../server/http/connections/open-connections.ts";
import type { ServerDeps } from "../server/product/deps.ts";

/**
 * Milliseconds between cutting the streams that are left and closing their connections: for a last event to be sent.
 */
const LAST_WORDS_MS = 500;
/**
 * Milliseconds that a drain leaves a connection open that is idle, or falls idle, for a call that is on its way: the
 * answer says that it is the last on this connection. If the connection were closed at once, it would reset that call.
 */
const LAST_CALL_MS = 1_000;

/** Listener of one thread. */
export type Listener = {
  /**
   * Starts to listen.
   *
   * @param shared true if other threads listen on the same port
   */
  listen(port: number, shared: boolean): Promise<void>;
  /** Returns the URL at which it listens, without a trailing slash. */
  url(): string;
  port(): number;
  /** Takes no new work; open answers end within so many milliseconds. */
  drain(graceMs: number): Promise<void>;
};

/**
 * Makes the public listener of one thread, with all that it serves.
 *
 * @throws ConfigError if its certificate cannot be had
 */
export async function createPublicListener(
  deps: ServerDeps,
  streams: StreamRegistry,
  mounts: readonly Mount[],
): Promise<Listener> {
  const { config, log, metrics } = deps;
  const certificate = config.tls && (await readCertificate(config.tls));
  const app = await buildApp(deps, mounts, certificate);
  const closeAll = trackConnections(app.server);
  const endRenewals = certificate && renewCertificate(app.server, certificate, { log, registry: metrics.registry });
  return {
    async listen(port, shared) {
      await app.listen({ host: config.host, port, ...(shared && { reusePort: true }) });
    },
    url: () => listenerUrl(config.tls === null ? "http" : "https", app.server),
    port: () => listenerPort(app.server),
    async drain(graceMs) {
      const { server } = app;
      leaveIdleOpen(server);
      const closed = app.close();
      const ended = Promise.withResolvers<void>();
      closed.then(ended.resolve, ended.resolve);
      await pause(graceMs, ended.promise);
      streams.cutAll("stopping");
      await pause(LAST_WORDS_MS, ended.promise);
      closeAll();
      await Promise.all([closed, endRenewals?.()]);
    },
  };
}

/** Has a server that is about to be closed leave its idle connections open for a last call. */
export function leaveIdleOpen(server: HttpServer): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  // Node and the framework call this as they stop listening.
  server.closeIdleConnections = ignore;
  server.keepAliveTimeout = LAST_CALL_MS;
  setTimeout(closeIdle, LAST_CALL_MS).unref();
}

/** Returns the URL at which a server is called on its own machine, without a trailing slash. */
export function listenerUrl(scheme: "http" | "https", server: Server): string {
  const { address, port } = addressOf(server);
  const host = callableAddress(address);
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Returns the port that a server listens on. */
export function listenerPort(server: Server): number {
  return addressOf(server).port;
}

function addressOf(server: Server): { address: string; port: number } {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the listener has no address");
  return address;
}

const ignore = (): void => {};
