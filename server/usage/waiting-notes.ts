/** So that no statement holds up others for long. */
const NOTES_AT_ONCE = 1_000;
/** Notes that wait at most, while the database is away: some 20 MB. Those beyond are noted the next day. */
const MAX_WAITING = 100_000;

/** What is noted of keys by the day, until it is written. */
export class WaitingNotes<Note> {
  readonly #record: (notes: readonly Note[]) => Promise<void>;
  #waiting: readonly Note[] = [];

  constructor(record: (notes: readonly Note[]) => Promise<void>) {
    this.#record = record;
  }

  add(notes: readonly Note[]): void {
    if (notes.length > 0) this.#waiting = [...this.#waiting, ...notes].slice(0, MAX_WAITING);
  }

  /** Writes what waits, in batches. One that fails waits on, with all behind it. */
  async write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const written = this.#waiting.slice(0, NOTES_AT_ONCE);
      await this.#record(written);
      this.#waiting = this.#waiting.slice(written.length);
    }
  }
}
