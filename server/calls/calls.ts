import type { IncomingMessage } from "node:http";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { LimitOwner } from "../../domain/access/rate-limit.ts";
import type { BodyBound, BodyHolder } from "./body-budget.ts";

/**
 * Cause for which a call is broken off: its key may no longer be used, nothing proves any more that it may be, its body
 * does not come, its body has been waited for the longest while the memory for bodies is full, or this server stops.
 */
export type CutCause = "key_ended" | "stale_index" | "slow_body" | "no_room" | "stopping";

/** A request's body, which is kept as it comes. */
export type OpenBody = {
  /**
   * Notes that so many bytes more of it are kept, until the end.
   *
   * @returns the owner of the bound that they would break, and then they are not to be kept; undefined for none
   */
  keep(bytes: number): BodyBound | undefined;
  /** Notes that its call has ended: nothing of it is kept any more. */
  end(): void;
};

/** A call that is watched from its head on, with its body. */
export type OpenCall = OpenBody & {
  /**
   * Counts it for one more owner, such as the route that it has named, until it ends.
   *
   * @param owner the owner's id
   * @returns false if the owner has as many calls under way as it may
   */
  countFor(owner: string, limit: number): boolean;
  /** Called once, when the call is to be broken off. */
  readonly onCut: (cause: CutCause) => void;
  /**
   * Has a handler's own functions called from here on. They come as arguments: if a function stands in an assignment to
   * a property, V8 makes it in the old space, and it would keep its dead call until the whole heap is collected.
   *
   * @param onCut called instead of {@link onCut}
   * @param onEnd called once, when the call has ended without having been broken off; as before if it is left out
   */
  takeOver(onCut: (cause: CutCause) => void, onEnd?: () => void): void;
};

/** Figures of the open calls of this process. */
export type CallFigures = {
  readonly calls: number;
  /** Bytes of bodies that are kept. */
  readonly keptBytes: number;
  readonly refusedCalls: number;
  readonly refusedBodies: number;
};

export type OpenStreams = {
  /**
   * Returns the owner that has as many calls under way as it may, so that a key may have none more, as far as is known
   * before the call is tracked; undefined if the key may.
   */
  fullOf(key: KeyRecord): LimitOwner | undefined;
  figures(): CallFigures;
  /**
   * Watches a call, which outlives its decision. It is cut when the key's version stops being usable (by the feed at
   * once, by expiry within a second), when the lease runs out, and when its body does not come.
   *
   * @param request given if its body may be waited for
   * @returns the call, or the owner that has as many calls under way as it may
   */
  track(key: KeyRecord, onCut: (cause: CutCause) => void, request?: IncomingMessage): OpenCall | LimitOwner;
  /** Watches a call as {@link track} does, and refuses none: for calls whose end is not seen here. */
  watch(key: KeyRecord, onCut: (cause: CutCause) => void, request?: IncomingMessage): OpenCall;
  /**
   * Takes memory for the body of a request without a key.
   *
   * @param holder ids that stand for a key and its team
   * @param answer answers the request if its body has to make way for another
   */
  openBody(holder: BodyHolder, request: Pick<IncomingMessage, "complete">, answer: () => void): OpenBody;
  /**
   * Has the body of a request without a key come at its pace.
   *
   * @param answer answers the request if its body comes too slowly
   * @returns a function that ends this
   */
  awaitBody(request: IncomingMessage, answer: () => void): () => void;
  /**
   * Cuts the calls, and answers the requests without a key, whose bodies come too slowly.
   *
   * @param now milliseconds on the monotonic clock
   */
  cutSlowBodies(now: number): void;
};
