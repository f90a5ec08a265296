import { connect } from "node:net";

/** An answer as it came over the wire. */
export type RawAnswer = {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  readonly text: string;
};

/**
 * Sends bytes and reads until the server closes, or until the answer's Content-Length is there, of which HEAD is sent
 * none. For requests that no HTTP client would send.
 *
 * @returns everything that came; status 0 when the connection was closed without an answer
 */
export function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const isHead = bytes.toString("latin1").startsWith("HEAD ");
    let text = "";
    const finish = () => {
      socket.destroy();
      resolve(parse(text));
    };
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (isHead ? text.includes("\r\n\r\n") : isComplete(text)) finish();
    });
    socket.on("close", finish);
    socket.on("error", finish);
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  });
}

/** A request line and header lines, closed by the empty line. */
export function requestHead(requestLine: string, headers: readonly string[] = []): string {
  return [requestLine, "Host: localhost", ...headers, "", ""].join("\r\n");
}

function parse(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const head = end === -1 ? text : text.slice(0, end);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
    head,
    body: end === -1 ? "" : text.slice(end + 4),
    text,
  };
}

function isComplete(text: string): boolean {
  const { head, body, status } = parse(text);
  if (status === 100 || !text.includes("\r\n\r\n")) return false;
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  return length !== undefined && body.length >= Number(length);
}
