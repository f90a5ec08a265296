import { connect } from "node:net";
import type pg from "pg";

/** PostgreSQL's code for a CancelRequest, in the place of a protocol version. */
const CANCEL_REQUEST = 80_877_102;
const LENGTH = 16;
/** A server that does not take it by then will not. */
const MAX_CANCEL_MS = 2_000;

/**
 * Asks the server to end what this client's connection runs, by a connection for that alone, as the protocol has it.
 * What it does not reach ends by its `statement_timeout`.
 */
export function requestCancel(client: pg.Client): void {
  // Of the client's start, which its type does not tell.
  const { processID, secretKey }: pg.Client & { processID?: unknown; secretKey?: unknown } = client;
  if (typeof processID !== "number" || typeof secretKey !== "number") return;
  const message = Buffer.alloc(LENGTH);
  message.writeInt32BE(LENGTH, 0);
  message.writeInt32BE(CANCEL_REQUEST, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const { host, port } = client;
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(MAX_CANCEL_MS, () => socket.destroy());
  socket.on("error", () => {});
  socket.end(message);
  socket.resume();
  socket.unref();
}
