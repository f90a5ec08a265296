/** The upstream of the other tenants, and of the calls that are held back, of which it notes what it gets. */
import { createServer } from "node:http";

/** Names a call, so that what came of it is found again. It passes the gateway as any header does. */
export const MARK = "x-mark";

export type OwnUpstream = {
  readonly url: string;
  /** When the head of a marked call came, and when its body's end, in milliseconds of the monotonic clock. */
  readonly heads: ReadonlyMap<string, number>;
  readonly ends: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

const EVENTS = 5;
const EVENT_MS = 10;

export async function startOwnUpstream(): Promise<OwnUpstream> {
  const heads = new Map<string, number>();
  const ends = new Map<string, number>();
  const server = createServer((request, response) => {
    const mark = request.headers[MARK];
    if (typeof mark === "string") heads.set(mark, performance.now());
    request.on("error", () => {});
    response.on("error", () => {});
    request.resume();
    request.on("end", () => {
      if (typeof mark === "string") ends.set(mark, performance.now());
      if (request.headers.accept !== "text/event-stream") return response.end('{"text":"answer"}');
      response.writeHead(200, { "content-type": "text/event-stream" });
      let left = EVENTS;
      const timer = setInterval(() => {
        response.write(`data: ${left}\n\n`);
        if (--left === 0) response.end();
      }, EVENT_MS);
      return response.on("close", () => clearInterval(timer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no loopback port to be had");
  return {
    url: `http://127.0.0.1:${address.port}`,
    heads,
    ends,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
