import { connect, type Socket } from "node:net";

/** A request as its caller writes it, byte by byte, and the status of its answer. */
export class RawCall {
  readonly #socket: Socket;
  /** Once the connection is gone, by whichever end. */
  readonly closed: Promise<void>;
  /** Of the first answer; undefined before there is one. */
  status: number | undefined;
  /** How many answers have begun. */
  answers = 0;
  isClosed = false;

  /** @param signal at which it leaves, wherever it is */
  constructor(url: string, signal?: AbortSignal) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ port: Number(port), host: hostname, ...(signal && { signal }) });
    this.closed = new Promise((resolve) => {
      this.#socket.on("close", () => {
        this.isClosed = true;
        resolve();
      });
    });
    this.#socket.on("error", () => {});
    this.#socket.on("data", (chunk) => {
      const heads = chunk.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3}) /g);
      for (const [, status] of heads) {
        if (status === "100") continue;
        this.status ??= Number(status);
        this.answers++;
      }
    });
  }

  /** Resolves when the next may be written: as fast as it is taken. */
  async write(bytes: string | Buffer): Promise<void> {
    if (this.isClosed || this.#socket.write(bytes)) return;
    const drained = new Promise((resolve) => this.#socket.once("drain", resolve));
    await Promise.race([drained, this.closed]);
  }

  /** Reads no more of the answer. */
  stopReading(): void {
    this.#socket.pause();
  }

  leave(): void {
    this.#socket.destroy();
  }
}

/** The line and the headers of a request, with the empty line. */
export function headOf(
  url: string,
  path: string,
  headers: Readonly<Record<string, string | number>>,
  method: "GET" | "POST" = "POST",
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, `host: ${new URL(url).host}`, ...lines, "", ""].join("\r\n");
}
