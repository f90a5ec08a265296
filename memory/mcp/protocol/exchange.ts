import { createMcpHandler } from "@modelcontextprotocol/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { accessNow } from "../../../server/auth/key-hook.ts";
import { CUT_PROBLEMS } from "../../../server/calls/open-call.ts";
import { PIECE, reserveAnswer } from "../../../server/http/answers/paced-response.ts";
import { Problem } from "../../../server/http/problems/problem.ts";
import { requestIdOf } from "../../../server/http/request-id.ts";
import { reachOfCall } from "../../../server/libraries/reach-of-call.ts";
import { writeAs } from "../../writes/write-as.ts";
import { type McpDeps, memoryServer } from "./server.ts";

/** Error that is sent on a stream whose key has ended. */
const CUT = { code: -32_001, message: "The key of this request may not be used any more." };
/** URL of no host of ours: the protocol library wants an absolute one, and looks at nothing in it. */
const ENDPOINT = "http://mcp.invalid/";

/**
 * Answers one JSON-RPC message of either protocol era with a server and a transport of its own (threats b48). The
 * library gets the message as it was parsed and decided on (threats b52), and of the headers those of the protocol
 * alone: never the key (threats b56).
 */
export async function exchange(
  deps: McpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  message: Readonly<Record<string, unknown>>,
): Promise<Response | Buffer> {
  const { principal, openCall } = request;
  const reach = reachOfCall(principal, request);
  const abort = new AbortController();
  const { signal } = abort;
  let refusal: Problem | undefined;
  const refuse = (shown: Problem): void => {
    refusal ??= shown;
    abort.abort();
  };
  const handler = createMcpHandler(() =>
    memoryServer(deps, principal, {
      signal,
      reach,
      requestId: requestIdOf(request.raw),
      present: (operation) => {
        const granted = accessNow(deps, request, operation);
        if (granted instanceof Problem) throw granted;
        const full = reserveAnswer(reply.raw);
        if (full !== undefined) throw full;
        return { key: granted.key, reach: reachOfCall(granted.key, request) };
      },
      write: (db, operation, task) => writeAs(deps, db, request, { ...task, operation }),
      refuse,
    }),
  );
  openCall?.takeOver((cause) => refuse(CUT_PROBLEMS[cause]));
  reply.raw.once("close", () => abort.abort());
  const call = new Request(ENDPOINT, { method: "POST", headers: protocolHeaders(request), signal });
  const response = await handler.fetch(call, { parsedBody: message });
  const isStream = response.headers.get("content-type") === "text/event-stream";
  // A stream's head waits for its first event: until then a refusal has the status of one.
  const body = isStream && response.body !== null ? await begun(response.body) : response.body;
  if (refusal !== undefined) {
    await body?.cancel();
    throw refusal;
  }
  if (body === null) return response;
  if (!isStream) {
    reply.code(response.status).headers(Object.fromEntries(response.headers));
    return Buffer.from(await response.arrayBuffer());
  }
  const ending = new TransformStream<Uint8Array, Uint8Array>({
    // A large result is one event: what its caller takes of it is seen by the piece.
    transform(chunk, controller) {
      for (let sent = 0; sent < chunk.length; sent += PIECE) controller.enqueue(chunk.subarray(sent, sent + PIECE));
    },
    flush(controller) {
      if (refusal !== undefined) controller.enqueue(event({ jsonrpc: "2.0", id: message.id ?? null, error: CUT }));
    },
  });
  const headers = new Headers(response.headers);
  // Whether the connection stays is the server's to say.
  headers.delete("connection");
  return new Response(body.pipeThrough(ending), { status: response.status, headers });
}

/** Waits for the first piece of a stream, or its end, and returns the whole stream. */
async function begun(body: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const reader = body.getReader();
  const first = await reader.read();
  let isFirst = true;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = isFirst ? first : await reader.read();
      isFirst = false;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function protocolHeaders(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value !== "string") continue;
    // The library looks for media types in lower case alone.
    if (name === "accept") headers.set(name, value.toLowerCase());
    else if (name === "content-type" || name.startsWith("mcp-")) headers.set(name, value);
  }
  return headers;
}

function event(message: unknown): Uint8Array {
  return new TextEncoder().encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}
