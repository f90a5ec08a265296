import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";

/** One request as an upstream got it. */
export type Received = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The upstream's own number for the connection that it came on. */
  readonly connection: number;
};

export type Upstream = Awaited<ReturnType<typeof startUpstream>>;

type Respond = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

/** A real HTTP server on loopback that notes what it is sent, and answers as the test says; `port`: any if left out. */
export async function startUpstream(respond: Respond = (response) => response.end("{}"), port = 0) {
  const received: Received[] = [];
  const numbers = new WeakMap<object, number>();
  let connections = 0;
  let current = respond;
  let refusal: number | undefined;
  let headed: (request: IncomingMessage) => void = () => {};
  const server = createServer(async (request, response) => {
    response.on("error", () => {});
    headed(request);
    if (refusal !== undefined) {
      response.writeHead(refusal, { "content-length": 2 }).end("{}");
      return;
    }
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const entry: Received = {
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(chunks),
      connection: numbers.get(request.socket) ?? 0,
    };
    received.push(entry);
    current(response, entry, request);
  });
  server.on("connection", (socket) => numbers.set(socket, ++connections));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    received,
    get connections() {
      return connections;
    },
    answerWith(next: Respond) {
      current = next;
    },
    /** Calls back for each request as soon as its head is there. */
    onHead(listener: (request: IncomingMessage) => void) {
      headed = listener;
    },
    /** Answers from now on with this status before any of the body is read. */
    refuseBodies(status: number) {
      refusal = status;
    },
    close(): Promise<void> {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
