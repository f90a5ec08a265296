import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type pg from "pg";

/** PostgreSQL's codes in the place of a protocol version: of a CancelRequest, and of the question for TLS. */
const CANCEL_REQUEST = 80_877_102;
const SSL_REQUEST = 80_877_103;
/** Of an answer that begins TLS. */
const WILLING = "S";
/** A server that does not take it by then will not. */
const MAX_CANCEL_MS = 2_000;

/**
 * Asks the server to end what this client's connection runs, by a connection for that alone, as the protocol has it.
 * What it does not reach ends by its `statement_timeout`.
 *
 * @param ssl of the client: the numbers by which its connection can be cancelled go the same way
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

/** What comes before the start of a session: a length, a code and numbers, each in 32 bits. */
function packet(...numbers: readonly number[]): Buffer {
  const message = Buffer.alloc(4 * (numbers.length + 1));
  for (const [index, number] of [message.length, ...numbers].entries()) message.writeInt32BE(number, 4 * index);
  return message;
}
