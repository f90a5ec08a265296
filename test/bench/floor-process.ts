/**
 * What Node itself costs: a proxy that decides nothing and checks nothing, by the fastest way there is. Run by
 * `gateway.ts` with the port to listen on and the upstream's. On {@link REFUSED_PATH} it refuses whatever it is asked.
 */
import { createServer } from "node:http";
import { Pool } from "undici";
import { dialectError } from "../../server/gateway/errors/dialect-errors.ts";
import { INERT_HEADERS } from "../../server/gateway/headers/headers.ts";
import { problem } from "../../server/http/problems/problem.ts";
import { REFUSED_PATH } from "./traffic.ts";

const [port, upstreamPort] = process.argv.slice(2);
const REFUSAL = dialectError("openai", problem("unauthorized"));
const REFUSAL_HEAD = [
  ...["content-type", "application/json; charset=utf-8", "content-length", String(Buffer.byteLength(REFUSAL))],
  ...INERT_HEADERS,
  ...["www-authenticate", "Bearer"],
];
const pool = new Pool(`http://127.0.0.1:${upstreamPort}`);

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

createServer((request, response) => {
  if (request.url === REFUSED_PATH) {
    response.writeHead(401, REFUSAL_HEAD);
    response.end(REFUSAL);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = joined(chunks);
    const answer: Buffer[] = [];
    pool.dispatch(
      { method: "POST", path: "/v1/chat/completions", headers: ["content-type", "application/json"], body },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, status, headers) => {
          const { "content-type": type = "", "content-length": length = "" } = headers;
          response.writeHead(status, ["content-type", String(type), "content-length", String(length)]);
        },
        onResponseData: (_controller, chunk) => answer.push(chunk),
        onResponseEnd: () => response.end(joined(answer)),
        onResponseError: () => response.destroy(),
      },
    );
  });
}).listen(Number(port), "127.0.0.1");
