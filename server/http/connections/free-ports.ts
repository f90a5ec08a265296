import { createServer } from "node:net";
import type { ServerConfig } from "../../context/config.ts";

/**
 * Checks at once that the ports are free: before a database is opened, which takes seconds, and without sharing a port,
 * which worker threads do later.
 *
 * @throws Error as listening does: with code EADDRINUSE if a port is already in use
 */
export async function assertPortsFree({ host, port, adminHost, adminPort, authz }: ServerConfig): Promise<void> {
  await assertFree(host, port);
  await assertFree(adminHost, adminPort);
  for (const proxies of [authz?.port, authz?.grpcPort]) {
    if (authz !== null && typeof proxies === "number") await assertFree(authz.host, proxies);
  }
}

function assertFree(host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const probe = createServer().once("error", reject);
  probe.listen({ host, port }, () => probe.close(() => resolve()));
  return promise;
}
