/**
 * Transport of one request to the API server with its answer or its stream: with which credentials, over which
 * connection, and until when.
 */
import { type ClientRequest, type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { type RequestOptions, request as tlsRequest } from "node:https";
import { errorText } from "../../../../domain/error-text.ts";
import { createAgents, PROBE_AFTER_MS } from "./agents.ts";
import { type EndedAnswer, parseAnswer } from "./answer.ts";
import { ApiError } from "./api-error.ts";
import type { Connection, Credentials } from "./connection.ts";

const TIMEOUT_MS = 15_000;
const USER_AGENT = "keyplane-controller";

export type ApiRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Type of the body; JSON by default. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Milliseconds until an answer that has not ended is given up. */
  readonly timeoutMs?: number;
  /** Number of times that it is sent to a server that is too busy; 8 by default. */
  readonly maxAttempts?: number;
  /** Bytes of an answer beyond which it is given up, with {@link TOO_LARGE}. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal;
  /** True for a request of the leader election: its writes need no leadership, and it never waits for a connection. */
  readonly isElection?: boolean;
  /** True if the body must not be repeated. The server's warnings may quote it, so they are dropped. */
  readonly isConfidential?: boolean;
};

export type StreamReader = {
  /**
   * Called when the server has agreed to the watch. Nothing of it is read before this resolves; if it rejects, the
   * watch ends.
   */
  readonly onOpen: () => Promise<void>;
  readonly onValue: (value: unknown) => void;
};

export type Transport = {
  /**
   * Sends a request once, and resolves with its answer, whatever that says.
   *
   * @throws ApiError without a status if there is no answer; its reason is {@link REUSED} if the connection may be why,
   * and {@link TOO_LARGE} if the answer is longer than it may be
   */
  send(request: ApiRequest): Promise<EndedAnswer>;
  /**
   * Opens a watch and resolves when the server has ended it.
   *
   * @param fresh true for a new connection, since a kept one may be as dead as the last
   * @throws ApiError without a status if it is cut, or has not ended by the request's timeout
   */
  stream(request: ApiRequest, fresh: boolean, reader: StreamReader): Promise<void>;
  close(): void;
};

export type TransportOptions = {
  readonly connection: Pick<Connection, "server" | "credentials">;
  /** Called with the status of each answer, and with null for each request that got none. */
  readonly onAnswer?: (method: string, status: number | null) => void;
  /** Called with each warning that the server sends. */
  readonly onWarning: (header: string) => void;
};

export function createTransport({ connection, onAnswer, onWarning }: TransportOptions): Transport {
  const agents = createAgents(connection.server.protocol === "https:");

  async function send(request: ApiRequest): Promise<EndedAnswer> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const response = await open(
        connection,
        request,
        ({ tls }) => agents.with(tls)[request.isElection === true ? "unbounded" : "requests"],
        (sent) => {
          const ms = request.timeoutMs ?? TIMEOUT_MS;
          timer = setTimeout(() => sent.destroy(new Error(`no answer within ${ms} ms`)), ms);
        },
      );
      const body = await readWhole(response, request.maxBytes);
      const status = response.statusCode ?? 0;
      onAnswer?.(request.method, status);
      const { warning } = response.headers;
      if (warning !== undefined && request.isConfidential !== true) onWarning(warning);
      return { status, retryAfter: response.headers["retry-after"], text: body.toString("utf8") };
    } catch (error) {
      onAnswer?.(request.method, null);
      throw error instanceof ApiError
        ? error
        : new ApiError(null, "", `no answer: ${errorText(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async function stream(what: ApiRequest, fresh: boolean, reader: StreamReader): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const response = await open(
        connection,
        what,
        ({ tls }) => (fresh ? false : agents.with(tls).unbounded),
        (sent) => {
          timer = setTimeout(() => sent.destroy(new Error("the deadline has passed")), what.timeoutMs ?? TIMEOUT_MS);
        },
      );
      onAnswer?.("WATCH", response.statusCode ?? 0);
      response.setEncoding("utf8");
      if (response.statusCode !== 200) {
        let text = "";
        for await (const chunk of response) text += chunk;
        parseAnswer({ status: response.statusCode ?? 0, text });
        throw new ApiError(null, "", `a watch was answered with ${response.statusCode}`);
      }
      await reader.onOpen().catch((error: unknown) => {
        response.destroy();
        throw error;
      });
      await readLines(response, reader.onValue);
    } catch (error) {
      throw error instanceof ApiError
        ? error
        : new ApiError(null, "", `the watch was cut: ${errorText(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  return { send, stream, close: agents.close };
}

/** Sends a request, and resolves with the answer once its head is there. */
async function open(
  connection: TransportOptions["connection"],
  { method, path, query, body, contentType = "application/json", accept = "application/json", signal }: ApiRequest,
  chooseAgent: (credentials: Credentials) => HttpAgent | false,
  onRequest: (request: ClientRequest) => void,
): Promise<IncomingMessage> {
  const credentials = await connection.credentials();
  const url = new URL(connection.server);
  url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) url.searchParams.set(name, value);
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const options: RequestOptions = {
    ...credentials.tls,
    method,
    agent: credentials.proxyAgent ?? chooseAgent(credentials),
    headers: {
      ...credentials.headers,
      accept,
      "user-agent": USER_AGENT,
      ...(payload === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(payload) }),
    },
    ...(signal === undefined ? {} : { signal }),
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? tlsRequest : httpRequest)(url, options, resolve);
    request.on("socket", (socket) => socket.setKeepAlive(true, PROBE_AFTER_MS));
    request.on("error", (error) => reject(noAnswer(request, error)));
    onRequest(request);
    request.end(payload);
  });
}

async function readWhole(response: IncomingMessage, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ApiError(null, TOO_LARGE, `the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a stream of JSON texts, one on each line. */
async function readLines(response: IncomingMessage, onValue: (value: unknown) => void): Promise<void> {
  let rest = "";
  for await (const chunk of response) {
    const lines = `${chunk}`.split("\n");
    lines[0] = rest + (lines[0] ?? "");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") onValue(JSON.parse(line));
  }
}

/** Reason of an error on a connection that was kept from an earlier request. */
export const REUSED = "Reused";
/** Reason of an error if an answer was given up for its length. */
export const TOO_LARGE = "TooLarge";

function noAnswer(request: ClientRequest, error: Error): ApiError {
  const reset = "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
  return new ApiError(null, request.reusedSocket && reset ? REUSED : "", `no answer: ${errorText(error)}`, {
    cause: error,
  });
}
