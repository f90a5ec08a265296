import { createMcpHandler } from "@modelcontextprotocol/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ServerDeps } from "../deps.ts";
import { problem } from "../errors.ts";
import { memoryServer } from "./server.ts";

/** What a client is told on a stream whose key has ended. */
const CUT = { code: -32_001, message: "The key of this request may not be used any more." };
/** No host of ours: the protocol library wants an absolute URL, and looks at nothing in it. */
const ENDPOINT = "http://mcp.invalid/";

/**
 * Answers one JSON-RPC message of either protocol era with a server and a transport of its own (b48). The library gets
 * the message as it was parsed and decided on (b52), and of the headers those of the protocol alone: never the key (b56).
 */
export async function exchange(
  deps: ServerDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  message: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const { principal } = request;
  const abort = new AbortController();
  const { signal } = abort;
  const handler = createMcpHandler(() => memoryServer(deps, principal, signal));
  let cut = false;
  const untrack = deps.streams.track(principal, () => {
    cut = true;
    abort.abort();
  });
  reply.raw.once("close", () => {
    untrack();
    abort.abort();
  });
  const call = new Request(ENDPOINT, { method: "POST", headers: protocolHeaders(request), signal });
  const response = await handler.fetch(call, { parsedBody: message });
  if (cut) {
    await response.body?.cancel();
    throw problem("unauthorized");
  }
  if (response.body === null || response.headers.get("content-type") !== "text/event-stream") return response;
  const ending = new TransformStream<Uint8Array, Uint8Array>({
    flush(controller) {
      if (cut) controller.enqueue(event({ jsonrpc: "2.0", id: message.id ?? null, error: CUT }));
    },
  });
  return new Response(response.body.pipeThrough(ending), response);
}

function protocolHeaders(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value !== "string") continue;
    if (name === "accept" || name === "content-type" || name.startsWith("mcp-")) headers.set(name, value);
  }
  return headers;
}

function event(message: unknown): Uint8Array {
  return new TextEncoder().encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}
