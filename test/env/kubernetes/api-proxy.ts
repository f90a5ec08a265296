/**
 * A proxy in front of a control plane that knows one request from another: it can lose an answer, hold a request back, or
 * answer in the API server's place. It has the API server's own certificate, so that clients trust it as they are.
 */
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request as httpsRequest } from "node:https";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Kubernetes } from "./client.ts";

export type ApiCall = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly isWatch: boolean;
  /** On the steady clock, milliseconds. */
  readonly at: number;
  /** Whether the client still waits, or watches. */
  readonly isOpen: () => boolean;
};

/** What becomes of a request. */
export type Fate =
  /** The connection is cut, and nothing has happened. */
  | { readonly do: "cut" }
  /** It is carried out, and the connection is cut in place of the answer. */
  | { readonly do: "lose answer" }
  /** The connection is cut at once, and the request is carried out so much later. Milliseconds. */
  | { readonly do: "arrive late"; readonly after: number }
  /** Nothing happens, and nothing is said. */
  | { readonly do: "hang" }
  /** The API server is not asked. */
  | { readonly do: "answer"; readonly status: number; readonly body: unknown };

/** Decides about a request; undefined lets it pass. */
export type Rule = (call: ApiCall) => Fate | undefined | Promise<Fate | undefined>;

export type ApiProxy = {
  readonly url: string;
  /** The administrator's, leading here. */
  readonly kubeconfigPath: string;
  readonly calls: readonly ApiCall[];
  /** The first rule that decides does. The result takes it back. */
  rule(rule: Rule): () => void;
  /** Does this to the next such request. Resolves with it when it has come. */
  once(matches: (call: ApiCall) => boolean, fate: Fate): Promise<ApiCall>;
  /** Ends every connection that there is, and what was under way on it; new ones pass. */
  cutAll(): void;
  close(): Promise<void>;
};

export async function startApiProxy(kubernetes: Kubernetes): Promise<ApiProxy> {
  const folder = dirname(kubernetes.kubeconfigPath);
  const [cert, key] = await Promise.all(["apiserver.crt", "apiserver.key"].map((name) => readFile(join(folder, name))));
  const agent = new Agent({ ca: cert, keepAlive: true });
  const rules = new Set<Rule>();
  const calls: ApiCall[] = [];

  /** Passes a request on; null when the API server gave no answer. */
  function ask(request: IncomingMessage, body: Buffer): Promise<IncomingMessage | null> {
    const { host: _, ...headers } = request.headers;
    const { method } = request;
    return new Promise((resolve) => {
      const onward = httpsRequest(new URL(request.url ?? "/", kubernetes.url), { method, agent, headers }, resolve);
      onward.on("error", () => resolve(null));
      onward.end(body);
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", kubernetes.url);
    const body = await buffer(request);
    const call: ApiCall = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: url.searchParams,
      body: body.toString(),
      isWatch: url.searchParams.has("watch"),
      at: performance.now(),
      isOpen: () => !response.destroyed && !response.writableFinished,
    };
    calls.push(call);
    const cut = () => void request.socket.destroy();
    const fate = await decide(call);
    if (fate?.do === "hang") return;
    if (fate?.do === "cut") return cut();
    if (fate?.do === "answer") {
      response.writeHead(fate.status, { "content-type": "application/json" }).end(JSON.stringify(fate.body));
      return;
    }
    if (fate?.do === "arrive late") {
      cut();
      await delay(fate.after);
    }
    const answer = await ask(request, body);
    if (answer === null || fate?.do === "lose answer" || fate?.do === "arrive late") {
      answer?.resume();
      return cut();
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on("error", cut).pipe(response);
    response.on("close", () => answer.destroy());
  }

  async function decide(call: ApiCall): Promise<Fate | undefined> {
    for (const rule of rules) {
      const fate = await rule(call);
      if (fate !== undefined) return fate;
    }
    return undefined;
  }

  const server = createServer({ cert, key }, (request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no port");
  const url = `https://127.0.0.1:${address.port}`;
  const kubeconfigPath = join(folder, `kubeconfig-${address.port}`);
  await writeFile(kubeconfigPath, (await readFile(kubernetes.kubeconfigPath, "utf8")).replaceAll(kubernetes.url, url), {
    mode: 0o600,
  });
  const rule = (one: Rule) => {
    rules.add(one);
    return () => void rules.delete(one);
  };
  return {
    url,
    kubeconfigPath,
    calls,
    rule,
    once: (matches, fate) =>
      new Promise((resolve) => {
        const take = rule((call) => {
          if (!matches(call)) return undefined;
          take();
          resolve(call);
          return fate;
        });
      }),
    cutAll: () => server.closeAllConnections(),
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
