/** Requests to a proxy as a stranger may write them: paths and headers as they stand, and no redirect followed. */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { TIMEOUT_MS } from "../readiness.ts";
import type { ProxyAnswer } from "./heard.ts";

/** Request to a proxy. */
export type Probe = {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
};

/** Characters of an answer's body that are read. */
const MAX_READ = 64 << 10;

/**
 * Sends one request on a connection of its own.
 *
 * @returns the answer, or the error for which there is none
 */
export function askProxy(origin: URL, probe: Probe, signal: AbortSignal): Promise<ProxyAnswer | Error> {
  const { promise, resolve } = Promise.withResolvers<ProxyAnswer | Error>();
  const { method, target, headers, body } = probe;
  const head = [
    ["host", origin.host],
    ["connection", "close"],
    ...headers,
    ...(body === undefined ? [] : [["content-type", "application/json"]]),
    // Else Node sends methods that it does not know with an empty body in chunks, which Traefik answers with 500.
    ...(method === "GET" || method === "HEAD" ? [] : [["content-length", String(Buffer.byteLength(body ?? ""))]]),
  ];
  const send = origin.protocol === "https:" ? requestHttps : requestHttp;
  const sent = send({
    host: origin.hostname.replace(/^\[|\]$/g, ""),
    port: origin.port === "" ? undefined : origin.port,
    method,
    path: target,
    headers: head.flat(),
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  let isAnswered = false;
  sent.on("error", (error) => {
    if (!isAnswered) resolve(error);
  });
  sent.once("response", (answer) => {
    isAnswered = true;
    read(answer)
      .then(resolve, resolve)
      // The rest of a body that the proxy has refused is not sent.
      .finally(() => sent.destroy());
  });
  sent.end(body);
  return promise;
}

async function read(answer: IncomingMessage): Promise<ProxyAnswer> {
  const { statusCode: status = 0, headers } = answer;
  let body = "";
  answer.setEncoding("utf8");
  try {
    for await (const chunk of answer) {
      body += chunk;
      if (body.length >= MAX_READ) break;
    }
  } catch {
    // An answer that does not end is judged by its status and its beginning: a stream may be open to all.
  }
  const header = (name: string) => String(headers[name] ?? "");
  return { status, server: header("server"), via: header("via"), location: header("location"), body };
}
