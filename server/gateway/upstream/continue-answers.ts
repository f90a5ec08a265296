import type { Socket } from "node:net";
import type { SocketTraffic } from "./reused-socket.ts";

/** Beginning of every request, its method; no piece of a body is written as a text that begins so. */
const REQUEST = /^[A-Z]+ /;
const PROTOCOL = Buffer.from("HTTP/");
/** Columns of the digits in a status line, such as `HTTP/1.1 100 Continue`. */
const HUNDREDS = 9;
const TENS = 10;
const ONES = 11;
/** States further on: in a line of an interim answer's head, and before a line's first byte. */
const IN_LINE = 12;
const LINE_START = 13;
/** State behind the status of the answer itself. */
const BEYOND = -1;

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const ZERO = 0x30;
const ONE = 0x31;
const TWO = 0x32;

/**
 * Has the dispatcher pass over each `100 Continue` on a socket. The dispatcher takes it for a fault if it did not ask
 * for one, and a server may send it all the same (RFC 9110 §15.2). The dispatcher passes over every other interim
 * answer, so it is shown a 102 instead, which has the same length: it still bounds them, and reads their heads. One
 * byte is overwritten; nothing is held back or read again, and of an answer without interim ones only the first ten
 * bytes are read.
 *
 * @param socket socket with one request at a time, each begun by its head in one text
 * @param traffic notified of each request, and of what comes back
 */
export function passOverContinue(socket: Socket, traffic: SocketTraffic): void {
  const { push, write } = socket;
  const answers = new ContinueAnswers();
  socket.write = (text: unknown, encoding?: unknown, callback?: unknown): boolean => {
    if (typeof text === "string" && REQUEST.test(text)) {
      answers.begin();
      traffic.begin();
    }
    return Reflect.apply(write, socket, [text, encoding, callback]);
  };
  socket.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
    if (Buffer.isBuffer(piece)) {
      answers.renumber(piece);
      traffic.arrive();
    }
    return push.call(socket, piece, encoding);
  };
}

/** State of the search for interim answers in the answer to one request. */
class ContinueAnswers {
  /** State at the next byte: its column in a status line, or one of the states above. */
  #state = BEYOND;

  /** Begins with the answer to a request that is sent. */
  begin(): void {
    this.#state = 0;
  }

  /** Makes a 102 of each 100 in the next piece of the answer. */
  renumber(piece: Buffer): void {
    for (let i = 0; i < piece.length && this.#state !== BEYOND; i++) {
      const byte = piece[i] ?? 0;
      if (this.#state === ONES && byte === ZERO) piece[i] = TWO;
      this.#state = this.#after(byte);
    }
  }

  #after(byte: number): number {
    const state = this.#state;
    if (state === LINE_START) {
      if (byte === LINE_FEED) return 0;
      return byte === CARRIAGE_RETURN ? LINE_START : IN_LINE;
    }
    if (state >= ONES) return byte === LINE_FEED ? LINE_START : IN_LINE;
    if (state === TENS) return byte === ZERO ? ONES : IN_LINE;
    if (state === HUNDREDS) return byte === ONE ? TENS : BEYOND;
    // Parsers pass over empty lines before a status line.
    if (state === 0 && (byte === CARRIAGE_RETURN || byte === LINE_FEED)) return 0;
    return state >= PROTOCOL.length || byte === PROTOCOL[state] ? state + 1 : BEYOND;
  }
}
