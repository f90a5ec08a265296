import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { type HeaderAddition, withAddedHeaders } from "../answers/added-headers.ts";
import type { AnswerBudget } from "../answers/answer-budget.ts";
import { addErrorSource } from "../error-source.ts";
import { addRequestId } from "../request-id.ts";
import { addTransportSecurity } from "../transport-security.ts";
import { type LingeringSockets, responseClass } from "./refused-request.ts";
import { stopAtRefusals } from "./stop-parsing.ts";

/** Certificate chain and its key, in PEM. */
export type TlsFiles = { readonly cert: Buffer; readonly key: Buffer };

/**
 * Milliseconds that an idle connection stays open: longer than the idle time of the balancers in front, so that none of
 * them meets a connection that was just closed.
 */
const KEEP_ALIVE_MS = 120_000;
/** Milliseconds for a request's head, and for a whole request, to arrive. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 300_000;

/** Options for Node's parser at its strictest, whatever flags the process was started with. */
export const STRICT: ServerOptions = {
  maxHeaderSize: 16 << 10,
  insecureHTTPParser: false,
  requireHostHeader: true,
  joinDuplicateHeaders: false,
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
};

/**
 * Makes the public listener's server, with its limits.
 *
 * @param lingering takes the connections whose request was refused before its end
 * @param answers memory budget of the answers
 * @param overTls true if clients come over TLS, which the server or a proxy terminates
 * @param added headers of every answer, besides those of the listener
 */
export function createListener(
  route: (request: IncomingMessage, response: ServerResponse) => void,
  tls: TlsFiles | null,
  lingering: LingeringSockets,
  answers: AnswerBudget,
  overTls = tls !== null,
  added: readonly HeaderAddition[] = [],
): Server {
  const additions = [...(overTls ? [addTransportSecurity] : []), addErrorSource, ...added, addRequestId];
  const ServerResponse = withAddedHeaders(responseClass(lingering, answers), additions);
  // The bodies that come here are bounded by their pace, and not by a time for all of them (threats b475).
  const options = { ...STRICT, requestTimeout: 0, ServerResponse };
  const server = tls === null ? createServer(options, route) : createTlsServer({ ...options, ...tls }, route);
  // Node silently drops headers beyond a count, and a second credential with them: their size is the bound.
  server.maxHeadersCount = 0;
  // Node remembers an address that was read once, and has none after the connection was reset. A connection
  // that was reset before it comes here has no address, and no client that waits for an answer.
  server.on("connection", (socket: Socket) => {
    if (socket.remoteAddress === undefined) socket.destroy();
  });
  if (tls !== null) server.on("secureConnection", ({ remoteAddress }: Socket) => remoteAddress);
  // Behind Node's own listener, which gives each connection its parser.
  server.on(tls === null ? "connection" : "secureConnection", stopAtRefusals);
  return server;
}
