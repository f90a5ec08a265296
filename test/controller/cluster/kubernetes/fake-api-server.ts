import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type ApiClient, createApiClient } from "../../../../controller/cluster/kubernetes/api/api-client.ts";
import { connect } from "../../../../controller/cluster/kubernetes/api/connection.ts";

export const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** A request as a fake API server sees it, and what it may answer. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  answer(status: number, body: unknown, headers?: Record<string, string>): void;
  /** Sends one event of a watch. */
  event(type: string, object: unknown): void;
  /** Sends bytes as they are. */
  raw(bytes: string): void;
  end(): void;
  /** Cuts the connection after what was sent. */
  cut(): void;
  readonly isOpen: () => boolean;
};

export type FakeApiServer = {
  readonly api: ApiClient;
  readonly kubeconfig: string;
  readonly calls: Call[];
  readonly lines: string[];
  /** Every connection that was ever made. */
  readonly connections: () => number;
  close(): Promise<void>;
};

/** For what a real API server does only rarely: answers as given, on loopback. */
export async function startFakeApiServer(handle: (call: Call, count: number) => void): Promise<FakeApiServer> {
  const calls: Call[] = [];
  const lines: string[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const call = await callOf(request, response);
    calls.push(call);
    handle(call, calls.length);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the fake API server has no port");
  const folder = await mkdtemp(join(tmpdir(), "keyplane-fake-api-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(configOf(`http://127.0.0.1:${address.port}`, "first-token")));
  const api = createApiClient({
    connection: connect(kubeconfig, clock),
    random: () => 0.5,
    log: (_level, message) => lines.push(message),
  });
  return {
    api,
    kubeconfig,
    calls,
    lines,
    connections: () => connections,
    async close() {
      api.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}

export function configOf(server: string, token: string) {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "fake", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "fake", user: { token } }],
    contexts: [{ name: "fake", context: { cluster: "fake", user: "fake" } }],
    "current-context": "fake",
  };
}

async function callOf(request: IncomingMessage, response: ServerResponse): Promise<Call> {
  const url = new URL(request.url ?? "", "http://fake");
  const body = await text(request);
  const json = { "content-type": "application/json" };
  const raw = (bytes: string) => {
    if (!response.headersSent) response.writeHead(200, json);
    response.write(bytes);
  };
  return {
    method: request.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: body === "" ? undefined : JSON.parse(body),
    answer: (status, answer, headers) =>
      response.writeHead(status, { ...json, ...headers }).end(JSON.stringify(answer)),
    event: (type, object) => raw(`${JSON.stringify({ type, object })}\n`),
    raw,
    end: () => {
      if (!response.headersSent) response.writeHead(200, json);
      response.end();
    },
    cut: () => void setImmediate(() => response.socket?.end()),
    isOpen: () => !response.destroyed,
  };
}

/** A Status, as the API server fails. */
export const status = (code: number, reason: string, message = reason) => ({ kind: "Status", code, reason, message });
