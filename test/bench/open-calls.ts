import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** Milliseconds between two pieces of an upload or of a stream. */
const PIECE_MS = 25;
/** Milliseconds after which a call that still goes on is ended by its client. */
const GIVES_UP_MS = 60_000;
/** Enough at this pace for an upload to be no slow one. */
const PIECE = Buffer.alloc(1_024, "x");
const NAME = "x-bench-call";
const BOUNDARY = "bench";
const FORM_HEAD = [
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n`,
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`,
].join("");

/** Call that does not end by itself. Times are in milliseconds since this process began. */
export type OpenCall = {
  /** When a byte passed for the last time: of an upload at the upstream, of a stream at the client. */
  readonly lastByte: () => number;
  readonly ended: Promise<void>;
};

/** Upstream that takes uploads without an end, and answers with streams that have none. */
export class OpenCalls {
  readonly #server = createServer();
  readonly #received = new Map<string, number>();
  readonly #streams: string;
  readonly #uploads: string;
  #made = 0;

  /** @param paths paths of a gateway that lead here */
  constructor(paths: { readonly streams: string; readonly uploads: string }) {
    this.#streams = paths.streams;
    this.#uploads = paths.uploads;
    this.#server.on("request", (asked, answer) => {
      const name = String(asked.headers[NAME]);
      asked.on("error", () => {});
      if (asked.url?.endsWith("/files")) {
        asked.on("data", () => this.#received.set(name, performance.now()));
        return;
      }
      asked.resume();
      answer.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => answer.write('data: {"choices":[]}\n\n'), PIECE_MS);
      answer.once("close", () => clearInterval(timer));
    });
  }

  /** Listens on a free port. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Begins an upload through a server; resolves once its bytes reach the upstream. */
  async upload(url: string, key: string): Promise<OpenCall> {
    const name = String(this.#made++);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const call = request(`${url}${this.#uploads}`, {
      method: "POST",
      headers: { ...headersOf(key, name), "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
    });
    call.write(FORM_HEAD);
    const timer = setInterval(() => call.write(PIECE), PIECE_MS);
    const end = (): void => {
      clearInterval(timer);
      resolve();
    };
    call.on("error", end).on("close", end);
    call.on("response", (answer) => answer.resume().on("error", end).on("close", end));
    setTimeout(() => call.destroy(), GIVES_UP_MS).unref();
    while (!this.#received.has(name)) await new Promise((later) => setTimeout(later, PIECE_MS));
    return { lastByte: () => this.#received.get(name) ?? Number.NaN, ended };
  }

  /** Asks for a stream through a server; resolves once it has begun. */
  async stream(url: string, key: string): Promise<OpenCall> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let last = Number.NaN;
    const call = request(`${url}${this.#streams}`, {
      method: "POST",
      headers: { ...headersOf(key, String(this.#made++)), "content-type": "application/json" },
    });
    call.on("error", begun.reject);
    call.on("response", (answer) => {
      if (answer.statusCode !== 200) begun.reject(new Error(`a stream is refused: ${answer.statusCode}`));
      answer.on("error", () => end()).on("close", () => end());
      answer.on("data", () => {
        last = performance.now();
        begun.resolve();
      });
    });
    call.end('{"model":"any","stream":true,"messages":[]}');
    setTimeout(() => call.destroy(), GIVES_UP_MS).unref();
    await begun.promise;
    return { lastByte: () => last, ended };
  }
}

function headersOf(key: string, name: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}`, [NAME]: name };
}
