import type { Mount } from "../server/app.ts";
import type { StreamRegistry } from "../server/calls/open-streams.ts";
import type { ServerDeps } from "../server/product/deps.ts";
import { createAuthzListener, createGrpcListener } from "./authz-listener.ts";
import { createPublicListener } from "./public-listener.ts";

/** Ports to listen on; 0 takes a free one. */
export type Ports = {
  readonly public: number;
  /** Null if no proxy asks here by HTTP. */
  readonly authz: number | null;
  /** Null if none asks by gRPC. */
  readonly authzGrpc: number | null;
};

/** Listeners of a thread, as they are reached. */
export type Reached = {
  readonly ports: Ports;
  readonly url: string;
  readonly authzUrl: string | null;
  readonly authzGrpcUrl: string | null;
};

/** All listeners of one thread. */
export type Listeners = {
  /** Starts to listen. @param shared true if other threads listen on the same ports */
  listen(ports: Ports, shared: boolean): Promise<Reached>;
  /** Takes no new work; open answers end within so many milliseconds. */
  drain(graceMs: number): Promise<void>;
};

/** Returns the ports that a configuration asks for. */
export function portsOf({ port, authz }: ServerDeps["config"]): Ports {
  return { public: port, authz: authz?.port ?? null, authzGrpc: authz?.grpcPort ?? null };
}

/**
 * Makes the listeners of one thread, with all that they serve.
 *
 * @throws ConfigError if a certificate or a token cannot be had
 */
export async function createListeners(
  deps: ServerDeps,
  streams: StreamRegistry,
  mounts: readonly Mount[],
): Promise<Listeners> {
  const [listener, authz, grpc] = await Promise.all([
    createPublicListener(deps, streams, mounts),
    createAuthzListener(deps),
    createGrpcListener(deps),
  ]);
  return {
    async listen(ports, shared) {
      await listener.listen(ports.public, shared);
      await authz?.listen(ports.authz ?? 0, shared);
      await grpc?.listen(ports.authzGrpc ?? 0, shared);
      return {
        ports: { public: listener.port(), authz: authz?.port() ?? null, authzGrpc: grpc?.port() ?? null },
        url: listener.url(),
        authzUrl: authz?.url() ?? null,
        authzGrpcUrl: grpc?.url() ?? null,
      };
    },
    async drain(graceMs) {
      await Promise.all([listener.drain(graceMs), authz?.drain(graceMs), grpc?.drain(graceMs)]);
    },
  };
}
