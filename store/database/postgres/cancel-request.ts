import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type pg from "pg";

/** Codes of PostgreSQL in the position of a protocol version: for a CancelRequest, and for a request to begin TLS. */
const CANCEL_REQUEST = 80_877_102;
const SSL_REQUEST = 80_877_103;
/** Answer of a server that agrees to TLS. */
const WILLING = "S";
/** Milliseconds after which a server that has not taken the request will not take it. */
const MAX_CANCEL_MS = 2_000;

/**
 * Asks the server to cancel the statement that runs on a client's connection, over a further connection, as the
 * protocol demands. If the request does not arrive, the statement ends by its `statement_timeout`.
 *
 * @param ssl TLS options of the client. The numbers that allow a cancellation are sent over the same TLS
 */
export function requestCancel(client: pg.Client, ssl: pg.ClientConfig["ssl"]): void {
  // The client has these since its start; its type does not show them.
  const { processID, secretKey }: pg.Client & { processID?: unknown; secretKey?: unknown } = client;
  if (typeof processID !== "number" || typeof secretKey !== "number") return;
  const { host, port } = client;
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(MAX_CANCEL_MS, () => socket.destroy());
  socket.on("error", () => {});
  socket.unref();
  const message = packet(CANCEL_REQUEST, processID, secretKey);
  if (ssl) beginTls(socket, host, ssl === true ? {} : ssl, (secure) => send(secure, message));
  else send(socket, message);
}

function beginTls(
  socket: Socket,
  host: string,
  ssl: Exclude<pg.ClientConfig["ssl"], boolean | undefined>,
  onSecure: (secure: Socket) => void,
): void {
  socket.write(packet(SSL_REQUEST));
  socket.once("data", (answer) => {
    if (answer.toString() !== WILLING) return socket.destroy();
    // By an address there is no server name to ask for.
    const name = isIP(host) === 0 ? { servername: host } : {};
    const secure = connectTls({ ...ssl, ...name, socket, host }, () => onSecure(secure));
    secure.on("error", () => socket.destroy());
  });
}

function send(socket: Socket, message: Buffer): void {
  socket.end(message);
  socket.resume();
}

/** Builds a message that comes before the start of a session: a length, a code and numbers, each in 32 bits. */
function packet(...numbers: readonly number[]): Buffer {
  const message = Buffer.alloc(4 * (numbers.length + 1));
  for (const [index, number] of [message.length, ...numbers].entries()) message.writeInt32BE(number, 4 * index);
  return message;
}
