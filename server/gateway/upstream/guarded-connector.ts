import type { Socket } from "node:net";
import { buildConnector } from "undici";
import { type AddressGuard, AddressRefusedError } from "./addresses.ts";
import { passOverContinue } from "./continue-answers.ts";
import { watchReuse } from "./reused-socket.ts";

/** Milliseconds that a connection may take, its look-up included. */
export const CONNECT_MS = 10_000;

/**
 * Refuses a host that is an address and not allowed. It is called before there is a socket: a socket's look-up is never
 * asked about an address.
 *
 * @throws AddressRefusedError if the host is an address that may not be connected to
 */
export function assertAllowed(hostname: string, guard: AddressGuard): void {
  if (isLiteral(hostname) && !guard.allows(hostname)) throw new AddressRefusedError();
}

/** True if a host is an address and no name: the URL parser leaves it in brackets, or of digits and dots alone. */
function isLiteral(hostname: string): boolean {
  return hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
}

/**
 * Creates a connector to allowed addresses alone, which checks the socket's own address once more before the first byte
 * is sent.
 */
export function guardedConnector(guard: AddressGuard): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_MS, allowH2: false, lookup: guard.lookup });
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null);
      if (isAllowed(socket, guard)) {
        passOverContinue(socket, watchReuse(socket));
        return callback(null, socket);
      }
      socket.destroy();
      callback(new AddressRefusedError(), null);
    });
  };
}

function isAllowed({ remoteAddress }: Socket, guard: AddressGuard): boolean {
  return remoteAddress !== undefined && guard.allows(remoteAddress);
}
