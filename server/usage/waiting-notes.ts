/** So that no statement holds up others for long. */
const NOTES_AT_ONCE = 1_000;
/** Notes that wait at most, while the database is away: some 20 MB. Those beyond are lost. */
const MAX_WAITING = 100_000;

type WaitingNotesDeps<Note> = {
  readonly record: (notes: readonly Note[]) => Promise<void>;
  /** Stores that some were lost until now, so that what lacks in the notes says nothing. */
  readonly recordLoss: () => Promise<void>;
};

/** What is noted of keys by the day, until it is written. */
export class WaitingNotes<Note> {
  readonly #deps: WaitingNotesDeps<Note>;
  #waiting: readonly Note[] = [];
  #isLossUnsaid = false;

  constructor(deps: WaitingNotesDeps<Note>) {
    this.#deps = deps;
  }

  add(notes: readonly Note[]): void {
    if (notes.length === 0) return;
    if (this.#waiting.length + notes.length > MAX_WAITING) this.#isLossUnsaid = true;
    this.#waiting = [...this.#waiting, ...notes].slice(0, MAX_WAITING);
  }

  /** Writes what waits, in batches. One that fails waits on, with all behind it. */
  async write(): Promise<void> {
    if (this.#isLossUnsaid) await this.#sayLoss();
    while (this.#waiting.length > 0) {
      const written = this.#waiting.slice(0, NOTES_AT_ONCE);
      await this.#deps.record(written);
      this.#waiting = this.#waiting.slice(written.length);
    }
  }

  async #sayLoss(): Promise<void> {
    // Before it is said: what is lost meanwhile is said with the next.
    this.#isLossUnsaid = false;
    try {
      await this.#deps.recordLoss();
    } catch (error) {
      this.#isLossUnsaid = true;
      throw error;
    }
  }
}
