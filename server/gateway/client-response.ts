import type { ServerResponse } from "node:http";
import type { ServedOperation } from "../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../domain/access/key-record.ts";
import { ERROR_SOURCE_HEADER } from "../http/error-source.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { terminalEvent } from "./errors/dialect-errors.ts";
import { decodedError, MAX_ENCODED, mayBeShown } from "./errors/encoded-error.ts";
import { sendErrorResponse } from "./errors/error-response.ts";
import type { ForwardedCall } from "./forwarded-call.ts";
import { CredentialMask, maskWhole, type Needle, needleOf } from "./headers/credential-mask.ts";
import { readResponseHead, type UpstreamHead, withLength } from "./headers/headers.ts";
import type { UpstreamPool } from "./upstream/pools.ts";

/** Milliseconds that a client has to read the end of an answer that was broken off. */
const LAST_READ_MS = 1_000;

/**
 * An upstream's error, held back until it is inspected: its encoding hides the text from the mask, or it may be about
 * the gateway's own credential.
 */
type HeldError = {
  readonly status: number;
  readonly headers: string[];
  readonly encoding: string | undefined;
  readonly needle: Needle;
  /** True if the error may be about the gateway's own credential. */
  readonly isAboutUs: boolean;
  readonly chunks: Buffer[];
  size: number;
};

/** Needle that matches nothing, for answers of our own. */
const NO_NEEDLE = needleOf("");

const WITHHELD = problem("bad_gateway", "The upstream answered with an error that cannot be shown.");

/** The response to one client: an upstream's answer, or a problem of our own. */
export class ClientResponse {
  readonly #response: ServerResponse;
  readonly #dialect: Dialect;
  readonly #operation: ServedOperation;
  #needle = NO_NEEDLE;
  /** Mask for a body that comes in pieces. */
  #mask: CredentialMask | undefined;
  /**
   * True if an event of ours can follow what was sent: the answer is an event stream, in plain text, of no stated
   * length.
   */
  #takesEvents = false;
  /** Last bytes of the body that were sent, at most four; kept for event streams alone. */
  #tail = "";
  #held: HeldError | undefined;
  /** Headers that wait for the first bytes of the body; undefined while there are none, and once they are sent. */
  #headers: string[] | undefined;
  /** Length that the upstream states for its body; undefined if it states none. */
  #length: string | undefined;
  /** The whole body, if it came in one piece: it is sent together with its end. */
  #whole: Buffer | undefined;

  constructor(response: ServerResponse, { dialect, operation }: Pick<ForwardedCall, "dialect" | "operation">) {
    this.#response = response;
    this.#dialect = dialect;
    this.#operation = operation;
  }

  /** True once anything has been sent. */
  get begun(): boolean {
    return this.#response.headersSent;
  }

  /** True once an answer has come that is passed on, also while only its head is here. */
  get isAnswered(): boolean {
    return this.begun || this.#headers !== undefined;
  }

  /**
   * Sends an upstream's head, at once for an event stream, else with the first bytes of its body; holds it back with an
   * error that is.
   *
   * @param isHeld true if an error is not to be sent before all of it has come
   */
  begin(
    { status, isHeld }: { readonly status: number; readonly isHeld: boolean },
    head: UpstreamHead,
    routeId: string | undefined,
    { names, needle }: UpstreamPool,
  ): void {
    const { returned, encoding, type, length } = readResponseHead(head, names, routeId, needle);
    if (status >= 400) returned.push(ERROR_SOURCE_HEADER, "upstream");
    this.#held =
      status >= 400 && (isHeld || encoding !== undefined)
        ? { status, headers: returned, encoding, needle, isAboutUs: isHeld, chunks: [], size: 0 }
        : undefined;
    if (this.#held !== undefined) return;
    this.#needle = needle;
    this.#length = length;
    const isEventStream = type !== undefined && /^text\/event-stream\b/i.test(type);
    this.#takesEvents = isEventStream && encoding === undefined && length === undefined;
    this.#response.statusCode = status;
    this.#headers = returned;
    if (isEventStream) this.#flushHead();
  }

  #sendHead(): void {
    if (this.#headers === undefined) return;
    this.#response.writeHead(this.#response.statusCode, this.#headers);
    this.#headers = undefined;
  }

  /** Sends an answer that was read whole, with the upstream's head. */
  answer(
    status: number,
    head: UpstreamHead,
    { body, headers = [] }: { readonly body: Buffer; readonly headers?: readonly string[] },
    routeId: string | undefined,
    { names, needle }: UpstreamPool,
  ): void {
    const { returned } = readResponseHead(head, names, routeId, needle);
    const masked = maskWhole(needle, body);
    this.#response.writeHead(status, withLength([...returned, ...headers], masked.length));
    this.#response.end(masked);
  }

  /**
   * Sends a stream's head on the next tick, together with an event that came along: the first event may be long in
   * coming.
   */
  #flushHead(): void {
    const { socket } = this.#response;
    socket?.cork();
    this.#sendHead();
    this.#response.flushHeaders();
    process.nextTick(() => socket?.uncork());
  }

  /**
   * True if an error was held back because it may be about our credential, and matches a pattern, in whatever encoding.
   */
  heldErrorSays(what: RegExp): boolean {
    if (!this.#held?.isAboutUs || this.#held.size > MAX_ENCODED) return false;
    const { chunks, encoding } = this.#held;
    const body = Buffer.concat(chunks);
    const text = encoding === undefined ? body : decodedError(body, encoding);
    return text !== undefined && what.test(text.toString());
  }

  /** True if the body came in one piece that has the length that the upstream stated. */
  get isWhole(): boolean {
    return this.#whole !== undefined;
  }

  /** Takes a chunk of an upstream's body; returns false while the client is slower than the upstream. */
  write(chunk: Buffer): boolean {
    if (this.#held !== undefined) {
      const held = this.#held;
      held.size += chunk.length;
      if (held.size <= MAX_ENCODED) held.chunks.push(chunk);
      else if (held.encoding === undefined) return this.#letGo(held, chunk);
      return true;
    }
    if (this.#length === String(chunk.length)) {
      this.#whole = chunk;
      return true;
    }
    this.#mask ??= new CredentialMask(this.#needle);
    const bytes = this.#mask.push(chunk);
    if (bytes.length === 0) return true;
    this.#sendHead();
    if (this.#takesEvents) this.#tail = (this.#tail + bytes.subarray(-4).toString("latin1")).slice(-4);
    return this.#response.write(bytes);
  }

  /** Sends an error that was held back and is too long to be about a refused credential, from its beginning on. */
  #letGo({ status, headers, needle, chunks }: HeldError, chunk: Buffer): boolean {
    this.#held = undefined;
    this.#needle = needle;
    this.#response.writeHead(status, headers);
    return this.write(Buffer.concat([...chunks, chunk]));
  }

  /** Calls back once the client has read what was sent. */
  onceDrained(callback: () => void): void {
    this.#response.once("drain", callback);
  }

  end(): void {
    this.#sendHead();
    if (this.#held !== undefined) this.#showError(this.#held);
    else if (this.#whole !== undefined) this.#response.end(maskWhole(this.#needle, this.#whole));
    else this.#response.end(this.#mask?.flush());
  }

  #showError({ status, headers, encoding, needle, chunks, size }: HeldError): void {
    const body = Buffer.concat(chunks);
    const isShown = encoding === undefined || mayBeShown(body, encoding, needle);
    if (size > MAX_ENCODED || !isShown) {
      sendErrorResponse(this.#response, this.#dialect, WITHHELD);
      return;
    }
    this.#response.writeHead(status, headers);
    this.#response.end(encoding === undefined ? maskWhole(needle, body) : body);
  }

  /**
   * Ends an answer before its upstream did. If nothing was sent, the client gets the problem; if the stream can take an
   * event, an event with the problem; else the connection is broken, so that no client takes a part for the whole.
   */
  breakOff(shown: Problem): void {
    if (!this.begun) {
      sendErrorResponse(this.#response, this.#dialect, shown);
      return;
    }
    if (!this.#takesEvents || !endsEvent(this.#tail) || (this.#mask?.flush().length ?? 0) > 0) {
      this.#response.destroy();
      return;
    }
    this.#response.end(terminalEvent(this.#dialect, this.#operation, shown));
    const impatience = setTimeout(() => this.#response.destroy(), LAST_READ_MS);
    this.#response.once("close", () => clearTimeout(impatience));
  }
}

/** True if a stream that ends in this tail is between two events. */
function endsEvent(tail: string): boolean {
  return tail === "" || tail.endsWith("\n\n") || tail.endsWith("\r\n\r\n") || tail.endsWith("\r\r");
}
