import type { IncomingMessage } from "node:http";
import type { BodyBound, BodyHolder } from "./body-budget.ts";
import type { OpenBody } from "./calls.ts";
import { type KeptBodies, KeptBody } from "./kept-bodies.ts";

/** Body of a request without a key: its caller is the holder, and no open call watches it. */
export class KeylessBody extends KeptBody implements OpenBody {
  readonly holder: BodyHolder;
  readonly #bodies: KeptBodies;
  readonly #request: Pick<IncomingMessage, "complete">;
  readonly #answer: () => void;
  #ended = false;

  /** @param answer answers the request, as its body makes way */
  constructor(bodies: KeptBodies, holder: BodyHolder, request: Pick<IncomingMessage, "complete">, answer: () => void) {
    super();
    this.holder = holder;
    this.#bodies = bodies;
    this.#request = request;
    this.#answer = answer;
  }

  get isAwaited(): boolean {
    return !this.#request.complete;
  }

  keep(bytes: number): BodyBound | undefined {
    return this.#ended ? "process" : this.#bodies.keep(this, bytes);
  }

  end(): void {
    this.#ended = true;
    this.#bodies.release(this);
  }

  evict(): void {
    this.end();
    this.#answer();
  }
}
