import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ReceivedDelivery = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

/** What a receiver does with a request that has come whole; answers 204 where nothing is said. */
export type Behaviour = (answer: ServerResponse, received: ReceivedDelivery) => void;

/** A receiver of webhooks on loopback, which keeps what it gets. */
export async function startReceiver() {
  const received: ReceivedDelivery[] = [];
  const behaviours = new Map<string, Behaviour>();
  const server = createServer((request, answer) => {
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      const one = { path, headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      const behave = behaviours.get(path);
      if (behave === undefined) answer.writeHead(204).end();
      else behave(answer, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    urlOf: (path: string) => `http://127.0.0.1:${port}${path}`,
    behave: (path: string, behaviour: Behaviour) => void behaviours.set(path, behaviour),
    at: (path: string) => received.filter((one) => one.path === path),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
