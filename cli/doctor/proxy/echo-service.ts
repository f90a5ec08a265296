/** The service behind the proxy while doctor looks: it says what arrives of doctor's requests, and serves no others. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { errorText } from "../../../domain/error-text.ts";
import { UsageError } from "../../command/usage-error.ts";

/** Request that has come through the proxy. */
export type Arrived = {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly bodyBytes: number;
};

export type EchoService = {
  /** Returns what has arrived since the last time. */
  take(): readonly Arrived[];
  close(): void;
};

/**
 * Listens on a port of loopback.
 *
 * @param agent User-Agent of doctor's own requests
 * @throws UsageError if the port cannot be had
 */
export async function startEchoService(port: number, agent: string): Promise<EchoService> {
  let arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    if (request.headers["user-agent"] !== agent) {
      response.writeHead(503, { connection: "close" }).end("keyplane doctor is looking at the proxy");
      return;
    }
    const bodyBytes = await lengthOf(request);
    const { method = "", url: target = "", rawHeaders } = request;
    arrived.push({ method, target, rawHeaders, bodyBytes });
    response.end();
  });
  // Node drops headers beyond a count, in which a client's could hide.
  server.maxHeadersCount = 0;
  server.listen({ host: "127.0.0.1", port });
  await once(server, "listening").catch((error: unknown) => {
    throw new UsageError(`--authz-echo ${port}: cannot listen there: ${errorText(error)}`);
  });
  return {
    take() {
      const taken = arrived;
      arrived = [];
      return taken;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function lengthOf(request: IncomingMessage): Promise<number> {
  let bytes = 0;
  try {
    for await (const chunk of request) bytes += (chunk as Buffer).length;
  } catch {
    // The proxy has broken it off: that much has arrived.
  }
  return bytes;
}
