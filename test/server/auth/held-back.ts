import { connect } from "node:net";
import { requestHead } from "../raw-http.ts";

/** A request whose last byte is held back. */
export type HeldRequest = {
  /** Sends the last byte. */
  finish(): void;
  /** All that came until the connection was closed. */
  readonly answer: Promise<{ status: number; text: string }>;
  /** What has come so far. */
  text(): string;
  leave(): void;
};

/**
 * Sends a request but for the last byte of its body.
 *
 * @param key sent as `X-API-Key`
 * @param target as `POST /atoms`
 */
export function holdBack(
  { port, key = "" }: { readonly port: number; readonly key?: string },
  target: string,
  body: string,
  headers: readonly string[] = [],
): HeldRequest {
  const isChunked = headers.some((header) => /^transfer-encoding:/i.test(header));
  const head = requestHead(`${target} HTTP/1.1`, [
    `X-API-Key: ${key}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "Connection: close",
    ...(isChunked ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...headers,
  ]).replace("Host: localhost", `Host: 127.0.0.1:${port}`);
  const sent = isChunked ? `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  const socket = connect(port, "127.0.0.1");
  let text = "";
  const closed = Promise.withResolvers<{ status: number; text: string }>();
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => closed.resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text }));
  socket.write(head + sent.slice(0, -1));
  return {
    finish: () => socket.write(sent.slice(-1)),
    answer: closed.promise,
    text: () => text,
    leave: () => socket.destroy(),
  };
}
