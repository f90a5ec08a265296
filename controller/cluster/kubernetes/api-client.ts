/**
 * Requests to the API server, on kept connections. There is no limit of our own to their rate, which is for the server's
 * priority and fairness to decide, but there is one to how many are under way.
 */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { type RequestOptions, Agent as TlsAgent, request as tlsRequest } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../domain/error-text.ts";
import { sanitizeUntrusted } from "../../../domain/redact.ts";
import type { LogLine } from "../../log-line.ts";
import { type Answer, parseAnswer, retryDelayOf } from "./answer.ts";
import { ApiError } from "./api-error.ts";
import type { Connection, Credentials, TlsOptions } from "./connection.ts";

/** Requests under way at once; more of them wait for a connection. Watches are not counted. */
const MAX_AT_ONCE = 32;
const TIMEOUT_MS = 15_000;
/** How often a request that the server was too busy for is sent, where it does not say itself. */
const MAX_ATTEMPTS = 8;
/** An idle connection is probed after this many milliseconds: a peer that is gone is found out within 20 s. */
const PROBE_AFTER_MS = 10_000;
const USER_AGENT = "keyplane-controller";

export type ApiRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** JSON where it is left out. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Milliseconds until an answer that has not ended is given up. */
  readonly timeoutMs?: number;
  /** How often it is sent to a server that asks for patience, 8 times where it is left out. */
  readonly maxAttempts?: number;
  readonly signal?: AbortSignal;
  /** A write of the leader election itself, which needs no leadership. */
  readonly isElection?: boolean;
};

export type StreamReader = {
  /** The server has agreed to the watch. Nothing is read of it before this resolves; where it rejects the watch ends. */
  readonly onOpen: () => Promise<void>;
  readonly onValue: (value: unknown) => void;
};

export type ApiClient = {
  /**
   * Sends a request and resolves with the answer's JSON. When the server asks for patience (429) it is sent again.
   *
   * @throws ApiError
   */
  request(request: ApiRequest): Promise<unknown>;
  /**
   * Opens a watch and resolves when the server has ended it.
   *
   * @param fresh on a new connection, since one that is kept may be as dead as the last
   * @throws ApiError without a status when it is cut, or has not ended by the request's timeout
   */
  stream(request: ApiRequest, fresh: boolean, reader: StreamReader): Promise<void>;
  /** From now on writes are made only while this holds, beside what was asked for before. */
  guardWrites(mayWrite: () => boolean, why?: string): void;
  close(): void;
};

export type ApiClientOptions = {
  readonly connection: Connection;
  readonly random: () => number;
  readonly log: LogLine;
  /** Told of each answer, and of each request that got none. */
  readonly onAnswer?: (method: string, status: number | null) => void;
};

export function createApiClient({ connection, random, log, onAnswer }: ApiClientOptions): ApiClient {
  const isTls = connection.server.protocol === "https:";
  const warned = new Set<string>();
  let agents: { readonly tls: TlsOptions; readonly short: HttpAgent; readonly streams: HttpAgent } | undefined;
  const guards: { readonly mayWrite: () => boolean; readonly why: string }[] = [];

  /** Connections are kept as long as the certificates are the same. */
  function agentsFor(tls: TlsOptions): NonNullable<typeof agents> {
    if (agents !== undefined && sameTls(agents.tls, tls)) {
      // The next comparison is of the same object.
      agents = { ...agents, tls };
      return agents;
    }
    const make = (maxSockets: number) => {
      const options = { keepAlive: true, keepAliveMsecs: PROBE_AFTER_MS, maxSockets };
      return isTls ? new TlsAgent({ ...options, ...tls }) : new HttpAgent(options);
    };
    agents = { tls, short: make(MAX_AT_ONCE), streams: make(Number.POSITIVE_INFINITY) };
    return agents;
  }

  /** Sends, and resolves with the answer once its head is there. */
  async function open(
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
      const request = (isTls ? tlsRequest : httpRequest)(url, options, resolve);
      request.on("socket", (socket) => socket.setKeepAlive(true, PROBE_AFTER_MS));
      request.on("error", (error) => reject(noAnswer(request, error)));
      onRequest(request);
      request.end(payload);
    });
  }

  async function send(request: ApiRequest): Promise<Answer> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const response = await open(
        request,
        ({ tls }) => agentsFor(tls).short,
        (sent) => {
          const ms = request.timeoutMs ?? TIMEOUT_MS;
          timer = setTimeout(() => sent.destroy(new Error(`no answer within ${ms} ms`)), ms);
        },
      );
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const status = response.statusCode ?? 0;
      onAnswer?.(request.method, status);
      tellWarnings(response.headers.warning);
      return { status, retryAfter: response.headers["retry-after"], text: Buffer.concat(chunks).toString("utf8") };
    } catch (error) {
      onAnswer?.(request.method, null);
      throw error instanceof ApiError
        ? error
        : new ApiError(null, "", `no answer: ${errorText(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** What the API server warns of is said once: an unknown field in a status, a version that will go. */
  function tellWarnings(header: string | undefined): void {
    if (header === undefined || warned.has(header)) return;
    warned.add(header);
    log("warn", `the API server warns: ${sanitizeUntrusted(header, 500)}`);
  }

  async function request(what: ApiRequest): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const guard = guards.find(({ mayWrite }) => !mayWrite());
      if (what.method !== "GET" && what.isElection !== true && guard !== undefined) {
        throw new ApiError(0, "NotAllowed", `${guard.why}: nothing was sent`);
      }
      let answer: Answer;
      try {
        answer = await send(what);
      } catch (error) {
        // A kept connection that the server had closed already; a read can be repeated.
        if (what.method === "GET" && attempt === 1 && error instanceof ApiError && error.reason === REUSED) continue;
        throw error;
      }
      if (answer.status === 401 && attempt === 1) connection.renew();
      else if (answer.status === 429 && attempt < (what.maxAttempts ?? MAX_ATTEMPTS))
        await delay(retryDelayOf(answer, random), undefined, what);
      else return parseAnswer(answer);
    }
  }

  async function stream(what: ApiRequest, fresh: boolean, reader: StreamReader): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const response = await open(
        what,
        ({ tls }) => (fresh ? false : agentsFor(tls).streams),
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
      let rest = "";
      for await (const chunk of response) {
        const lines = `${chunk}`.split("\n");
        lines[0] = rest + (lines[0] ?? "");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line !== "") reader.onValue(JSON.parse(line));
      }
    } catch (error) {
      throw error instanceof ApiError
        ? error
        : new ApiError(null, "", `the watch was cut: ${errorText(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    request,
    stream,
    guardWrites(mayWrite, why = "this process does not lead any more") {
      guards.push({ mayWrite, why });
    },
    close() {
      agents?.short.destroy();
      agents?.streams.destroy();
    },
  };
}

/** The reason of an error on a connection that was kept from an earlier request. */
const REUSED = "Reused";

function noAnswer(request: ClientRequest, error: Error): ApiError {
  const reset = "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
  return new ApiError(null, request.reusedSocket && reset ? REUSED : "", `no answer: ${errorText(error)}`, {
    cause: error,
  });
}

function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  return (
    a === b ||
    JSON.stringify([a.ca, a.cert, a.key, a.servername]) === JSON.stringify([b.ca, b.cert, b.key, b.servername])
  );
}
