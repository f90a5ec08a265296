import type { IncomingHttpHeaders } from "node:http";
import { addressesOf } from "../http/forwarded-for.ts";
import { singleHeader } from "./asked-request.ts";
import type { ProxyQuestion } from "./check-request.ts";

/** Caller of the request that a proxy asks about. Its address is what the proxy says. */
export class Asker {
  readonly raw: ProxyQuestion;
  readonly #addressHeader: string | null;

  /** @param addressHeader header in which the proxy sends the address, in lower case; null if none is known */
  constructor(question: ProxyQuestion, addressHeader: string | null) {
    this.raw = question;
    this.#addressHeader = addressHeader;
  }

  /** Last address in the header, which the proxy itself has written; undefined if there is no header, or several. */
  get ip(): string | undefined {
    if (this.#addressHeader === null) return undefined;
    const written = singleHeader(this.raw.rawHeaders, this.#addressHeader);
    // Most addresses are one, of IPv4 and without a port.
    if (written === undefined || !/[,:]/.test(written)) return written;
    return addressesOf(written).split(",").at(-1)?.trim();
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }
}
