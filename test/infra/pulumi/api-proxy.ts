import { createServer, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";

/**
 * What becomes of a request: it passes, its connection breaks before or after the server has done what it asks, or what
 * it asks is done and 503 stands in place of the answer.
 */
export type Fate = "passes" | "breaks" | "breaks answered" | "busy answered";

export type ApiProxy = {
  readonly url: string;
  /** Decides on each request. */
  watch(decide: (request: Request) => Fate | Promise<Fate>): void;
  /** What happens once an answer is there, before it is passed on. */
  onAnswer(act: (request: Request, status: number) => Promise<void>): void;
  close(): Promise<void>;
};

export type Request = { readonly method: string; readonly path: string; readonly token: string };

/** Stands between the provider and the server, and can lose what goes by. */
export async function startApiProxy(target: string): Promise<ApiProxy> {
  let decide: (request: Request) => Fate | Promise<Fate> = () => "passes";
  let answered: (request: Request, status: number) => Promise<void> = async () => {};
  const server = createServer(async (incoming, outgoing) => {
    const seen = {
      method: incoming.method ?? "",
      path: (incoming.url ?? "").replace(/^\/api\/v1\//, ""),
      token: incoming.headers.authorization?.replace("Bearer ", "") ?? "",
    };
    const fate = await decide(seen);
    if (fate === "breaks") return incoming.socket.destroy();
    const answer = await forward(target, incoming);
    const body = await buffer(answer);
    await answered(seen, answer.statusCode ?? 0);
    if (fate === "breaks answered") return incoming.socket.destroy();
    if (fate === "busy answered") {
      const problem = JSON.stringify({ status: 503, code: "unavailable", detail: "Later." });
      return outgoing.writeHead(503, { "content-type": "application/problem+json", "retry-after": "1" }).end(problem);
    }
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    watch(next) {
      decide = next;
    },
    onAnswer(next) {
      answered = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function forward(target: string, incoming: IncomingMessage): Promise<IncomingMessage> {
  const { method, headers, url = "" } = incoming;
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url, target), { method, headers }, resolve);
    outgoing.on("error", reject);
    incoming.pipe(outgoing);
  });
}
