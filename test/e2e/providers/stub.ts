/**
 * A stand-in for OpenAI, Anthropic and Google that answers as the types of their SDKs say, and does on demand what a
 * provider does now and then. What it does is in the prompt, so that it is the same for every client:
 *
 * - `fault:invalid:ID` refuses with 400;
 * - `fault:limit:ID` refuses with 429 and `Retry-After: 1` until the same ID is asked again, and says when that was;
 * - `fault:cut:ID` breaks the connection off in the middle of a stream;
 * - `fault:endless:ID` streams without an end, and `fault:left:ID` says whether the caller of that has left.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { CHAT_COMPLETIONS } from "./chat-completions.ts";
import { type Asked, type Format, InvalidRequest, type Reply, replyTo, type StreamEvent } from "./format.ts";
import { GENERATE_CONTENT } from "./generate-content.ts";
import { MESSAGES } from "./messages.ts";
import { RESPONSES } from "./responses.ts";

/** Milliseconds between two events, and until a caller that has left has to be noticed. */
const PACE_MS = 10;
const LEAVING_MS = 10_000;

type Header = (name: string) => string | undefined;

/** Each path with its format, and where its provider looks for the credential. */
const PATHS: readonly (readonly [RegExp, Format, (header: Header) => boolean])[] = [
  [/^\/v1\/chat\/completions$/, CHAT_COMPLETIONS, hasBearer],
  [/^\/v1\/responses$/, RESPONSES, hasBearer],
  [/^\/v1\/messages$/, MESSAGES, (header) => header("x-api-key") !== undefined],
  [
    /^\/v1(beta)?\/models\/[^/:]+:(g|streamG)enerateContent$/,
    GENERATE_CONTENT,
    (header) => header("x-goog-api-key") !== undefined,
  ],
];

function hasBearer(header: Header): boolean {
  return /^Bearer ./.test(header("authorization") ?? "");
}

export type ProviderStub = Awaited<ReturnType<typeof startProviderStub>>;

/** Starts the stub on loopback, until `close()`. */
export async function startProviderStub() {
  /** When each ID was refused, and the streams that callers may leave: when each has ended. */
  const refusedAt = new Map<string, number>();
  const leaving = new Map<string, Promise<unknown>>();

  async function faultOf(fault: string, id: string): Promise<Reply> {
    if (fault === "invalid") throw new InvalidRequest(`The request ${id} is refused.`);
    if (fault === "left") {
      const left = leaving.get(id)?.then(() => "has left") ?? "has not come";
      return { kind: "text", text: `The caller ${await Promise.race([left, delay(LEAVING_MS, "is still there")])}.` };
    }
    if (fault === "limit") {
      const before = refusedAt.get(id);
      refusedAt.set(id, Date.now());
      if (before === undefined) throw new InvalidRequest(`The request ${id} is one too many.`, 429);
      return { kind: "text", text: `Answered ${Date.now() - before} ms after the refusal.` };
    }
    return { kind: "text", text: "This answer goes on and on. " };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://stub");
    const header: Header = (name) => request.headers[name]?.toString();
    const [, format = CHAT_COMPLETIONS, isAuthentic] = PATHS.find(([path]) => path.test(url.pathname)) ?? [];
    try {
      if (isAuthentic === undefined || request.method !== "POST") throw new InvalidRequest("Unknown path.", 404);
      if (!isAuthentic(header)) throw new InvalidRequest("There is no credential.", 401);
      const asked = format.read(await text(request), url, header);
      const [, fault = "", id = ""] = /\bfault:(\w+):([\w-]+)/.exec(asked.prompt) ?? [];
      const reply = fault === "" ? replyTo(asked) : await faultOf(fault, id);
      if (!asked.isStream) return sendJson(response, 200, format.whole(reply, asked));
      if (fault === "endless") leaving.set(id, once(response, "close"));
      const events = eventsOf(format, reply, asked, fault);
      if (asked.isArray) await sendArray(response, events, fault === "cut");
      else await sendEvents(response, events);
      if (fault === "cut") response.destroy();
      else response.end();
    } catch (error) {
      if (!(error instanceof InvalidRequest)) throw error;
      if (error.status === 429) response.setHeader("retry-after", "1");
      sendJson(response, error.status, format.error(error.status, error.message));
    }
  }

  const server = createServer((request, response) => {
    response.on("error", () => {});
    serve(request, response).catch((error) => {
      process.stderr.write(`provider stub: ${error instanceof Error ? error.stack : error}\n`);
      response.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function* eventsOf(format: Format, reply: Reply, asked: Asked, fault: string): Generator<StreamEvent> {
  const { opening, deltas, closing } = format.stream(reply, asked);
  yield* opening;
  yield* deltas;
  while (fault === "endless") yield* deltas;
  if (fault !== "cut") yield* closing;
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Sends events until they end, or the caller has left. Where they are numbered, each gets its place. */
async function sendEvents(response: ServerResponse, events: Iterable<StreamEvent>): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let place = 0;
  for (const { name, data } of events) {
    if (response.destroyed) return;
    const isNumbered = typeof data === "object" && "sequence_number" in data;
    const line = data === "[DONE]" ? data : JSON.stringify(isNumbered ? { ...data, sequence_number: place++ } : data);
    response.write(`${name === undefined ? "" : `event: ${name}\n`}data: ${line}\n\n`);
    await delay(PACE_MS);
  }
}

/** Sends the same as an array, whose end is missing where the stream is cut. */
async function sendArray(response: ServerResponse, events: Iterable<StreamEvent>, isCut: boolean): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  let before = "[";
  for (const { data } of events) {
    if (response.destroyed) return;
    response.write(`${before}${JSON.stringify(data)}`);
    before = ",\r\n";
    await delay(PACE_MS);
  }
  if (!isCut) response.write("]");
}
