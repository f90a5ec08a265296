import type { IncomingMessage } from "node:http";
import type { KeyRecord } from "../../domain/key-record.ts";
import { unusableBecause } from "../../domain/key-state.ts";
import type { CutCause, OpenCall, OpenStreams } from "../deps.ts";
import { BodyPace } from "../http/body-pace.ts";

/** A call that is open, and the version of a key that it was let through with. */
class TrackedCall implements OpenCall {
  record: KeyRecord;
  onCut: (cause: CutCause) => void;
  readonly request: IncomingMessage | undefined;
  place: number;
  readonly #registry: StreamRegistry;

  constructor(
    registry: StreamRegistry,
    place: number,
    record: KeyRecord,
    onCut: TrackedCall["onCut"],
    request?: IncomingMessage,
  ) {
    this.#registry = registry;
    this.place = place;
    this.record = record;
    this.onCut = onCut;
    this.request = request;
  }

  end(): void {
    this.#registry.remove(this);
  }
}

/**
 * The open calls of this replica, each from its head on: cut when the key they were let through with stops being usable.
 * They stand in a list in any order, and not in a Set: with a Set, to which each request adds one, a part of what requests
 * allocate was seen to outlive them until the whole heap was collected (docs/performance.md).
 */
export class StreamRegistry implements OpenStreams {
  readonly #calls: TrackedCall[] = [];
  readonly #pace = new BodyPace();
  readonly #onKeyEnded: () => void;

  /** @param onKeyEnded called for every call that is cut because its key has ended */
  constructor(onKeyEnded: () => void) {
    this.#onKeyEnded = onKeyEnded;
  }

  get size(): number {
    return this.#calls.length;
  }

  track(key: KeyRecord, onCut: (cause: CutCause) => void, request?: IncomingMessage): OpenCall {
    const call = new TrackedCall(this, this.#calls.length, key, onCut, request);
    this.#calls.push(call);
    return call;
  }

  /** Takes a call out, once: the last one takes its place. */
  remove(call: TrackedCall): void {
    const { place } = call;
    if (this.#calls[place] !== call) return;
    const last = this.#calls.pop();
    if (last === undefined || last === call) return;
    this.#calls[place] = last;
    last.place = place;
  }

  /**
   * Cuts the calls whose key may not be used any more. Run after each change of the index, and each second for expiry.
   *
   * @param findPresent what a key's version is now; undefined when the index has it no more
   *
   * @param now milliseconds since the epoch
   */
  sweep(findPresent: (record: KeyRecord) => KeyRecord | undefined, now: number): void {
    for (const call of [...this.#calls]) {
      const present = findPresent(call.record);
      if (present !== undefined && unusableBecause(present, now) === undefined) {
        call.record = present;
        continue;
      }
      this.#onKeyEnded();
      this.#cut(call, "key_ended");
    }
  }

  cutSlowBodies(now: number): void {
    for (const call of [...this.#calls]) {
      if (call.request !== undefined && this.#pace.isTooSlow(call.request, now)) this.#cut(call, "slow_body");
    }
  }

  /** Cuts every call: of a lease that has run out, and the last of a drain. */
  cutAll(cause: CutCause): void {
    for (const call of [...this.#calls]) this.#cut(call, cause);
  }

  #cut(call: TrackedCall, cause: CutCause): void {
    this.remove(call);
    call.onCut(cause);
  }
}
