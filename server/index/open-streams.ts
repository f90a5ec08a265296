import type { KeyRecord } from "../../domain/key-record.ts";
import { unusableBecause } from "../../domain/key-state.ts";
import type { OpenStreams } from "../deps.ts";

/** A stream that is open, and the version of a key that it was let through with. */
type OpenStream = { record: KeyRecord; readonly cut: () => void; place: number };

/**
 * The open answers of this replica: cut when the key they were let through with stops being usable. They stand in a list
 * in any order, and not in a Set: with a Set, to which each request adds one, a part of what requests allocate was seen to
 * outlive them until the whole heap was collected (docs/performance.md).
 */
export class StreamRegistry implements OpenStreams {
  readonly #streams: OpenStream[] = [];
  readonly #onCut: () => void;

  /** @param onCut called for every stream that is cut */
  constructor(onCut: () => void) {
    this.#onCut = onCut;
  }

  get size(): number {
    return this.#streams.length;
  }

  track(key: KeyRecord, cut: () => void): () => void {
    const stream: OpenStream = { record: key, cut, place: this.#streams.length };
    this.#streams.push(stream);
    return () => this.#remove(stream);
  }

  /** Takes a stream out, once: the last one takes its place. */
  #remove(stream: OpenStream): void {
    const { place } = stream;
    if (this.#streams[place] !== stream) return;
    const last = this.#streams.pop();
    if (last === undefined || last === stream) return;
    this.#streams[place] = last;
    last.place = place;
  }

  /**
   * Cuts the streams whose key may not be used any more. Run after each change of the index, and each second for expiry.
   *
   * @param now milliseconds since the epoch
   *
   * @param findVersion the present record of a key's version; undefined when the index has it no more
   */
  sweep(findVersion: (record: KeyRecord) => KeyRecord | undefined, now: number): void {
    for (const stream of [...this.#streams]) {
      const present = findVersion(stream.record);
      if (present !== undefined && unusableBecause(present, now) === undefined) {
        stream.record = present;
        continue;
      }
      this.#remove(stream);
      this.#onCut();
      stream.cut();
    }
  }

  /** Ends every stream: the last of a drain. */
  cutAll(): void {
    for (const stream of [...this.#streams]) {
      this.#remove(stream);
      stream.cut();
    }
  }
}
