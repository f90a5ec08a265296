import type { Socket } from "node:net";
import { buildConnector } from "undici";
import { type AddressGuard, AddressRefusedError } from "./addresses.ts";
import { passOverContinue } from "./continue-answers.ts";
import { watchReuse } from "./reused-socket.ts";

/** How long a connection may take, its look-up included. */
export const CONNECT_MS = 10_000;

/**
 * A socket's look-up is never asked about a literal, so that one is judged before there is a socket.
 *
 * @throws AddressRefusedError where a host is an address that may not be connected to
 */
export function assertAllowed(hostname: string, guard: AddressGuard): void {
  if (isLiteral(hostname) && !guard.allows(hostname)) throw new AddressRefusedError();
}

/** As the URL parser leaves them, a host in brackets or of digits and dots alone is an address and no name. */
function isLiteral(hostname: string): boolean {
  return hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
}

/** Connects to allowed addresses alone, and looks at the socket's own once more before the first byte is sent. */
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
