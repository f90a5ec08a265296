import type { AnswerIds } from "./answer-ids.ts";
import type { KeptReference } from "./reference-scan.ts";

/** Bytes that are held until an answer names its object, at most: each upstream begins with it. */
const MOST_HELD = 256 << 10;

type HeldDeps = {
  readonly ids: AnswerIds;
  /** Records whose the objects are. */
  readonly record: (made: readonly KeptReference[]) => Promise<void>;
  /** Sends the answer's head. */
  readonly begin: () => void;
  /** Sends a piece; returns false while the client is slower than the upstream. */
  readonly pass: (chunk: Buffer) => boolean;
  /** Called once nothing waits any more; `flows` as `pass` returned it last. */
  readonly onReleased: (flows: boolean) => void;
  /** Called once all of the answer has been sent. */
  readonly onEnd: () => void;
  /** Called if an owner could not be recorded. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Answer that is held back until it is recorded whose the objects are that it names: first its head and all up to the
 * first id, then each piece with another id.
 */
export class UnrecordedAnswer {
  readonly #deps: HeldDeps;
  #waiting: Buffer[] = [];
  #size = 0;
  /** Records that are under way. */
  #recording = 0;
  #hasBegun = false;
  #knowsObject = false;
  #isEnded = false;
  #isDropped = false;

  constructor(deps: HeldDeps) {
    this.#deps = deps;
  }

  /** True while it waits for an owner to be recorded. */
  get isRecording(): boolean {
    return this.#recording > 0;
  }

  /** True once the client has been sent anything. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** True if what is held back matches a pattern. */
  says(what: RegExp): boolean {
    return what.test(Buffer.concat(this.#waiting).toString("latin1"));
  }

  /** Takes a piece; returns false if no other is to come before `onReleased`. */
  push(chunk: Buffer): boolean {
    this.#waiting.push(chunk);
    this.#size += chunk.length;
    const made = this.#deps.ids.push(chunk);
    if (made.length > 0) this.#record(made);
    return this.#recording === 0 && this.#passOn();
  }

  end(): void {
    this.#isEnded = true;
    this.#passOn();
  }

  /** Gives the answer up: nothing of it is sent any more. */
  drop(): void {
    this.#isDropped = true;
    this.#waiting = [];
  }

  #record(made: readonly KeptReference[]): void {
    this.#recording++;
    const goOn = (): void => {
      this.#knowsObject = true;
      this.#recording--;
      if (this.#isDropped || this.#recording > 0) return;
      const flows = this.#passOn();
      if (!this.#isEnded) this.#deps.onReleased(flows);
    };
    this.#deps.record(made).then(goOn, (error: unknown) => {
      if (this.#isDropped) return;
      this.#deps.onFailure(error);
      goOn();
    });
  }

  /** Sends what need not wait; returns false while the client is slower than the upstream. */
  #passOn(): boolean {
    if (this.#isDropped || this.#recording > 0) return true;
    const isOpening = !this.#knowsObject && this.#size <= MOST_HELD;
    if (!this.#isEnded && (isOpening || this.#deps.ids.isInId)) return true;
    if (!this.#hasBegun) this.#deps.begin();
    this.#hasBegun = true;
    const pieces = this.#waiting;
    this.#waiting = [];
    let flows = true;
    for (const piece of pieces) flows = this.#deps.pass(piece);
    if (this.#isEnded) this.#deps.onEnd();
    return flows;
  }
}
