/** So that no statement holds up others for long. */
const NOTES_AT_ONCE = 250;
/** Notes that wait at most, while the database is away: some 20 MB. Those beyond are lost. */
const MAX_WAITING = 100_000;

type WaitingNotesDeps<Note> = {
  readonly record: (notes: readonly Note[]) => Promise<void>;
  /** Is called where some are lost. */
  readonly onLoss: () => void;
};

/** What is noted of keys by the day, until it is written. */
export class WaitingNotes<Note> {
  readonly #deps: WaitingNotesDeps<Note>;
  #waiting: readonly Note[] = [];

  constructor(deps: WaitingNotesDeps<Note>) {
    this.#deps = deps;
  }

  /** Whether none waits. */
  get isWritten(): boolean {
    return this.#waiting.length === 0;
  }

  add(notes: readonly Note[]): void {
    if (notes.length === 0) return;
    if (this.#waiting.length + notes.length > MAX_WAITING) this.#deps.onLoss();
    this.#waiting = [...this.#waiting, ...notes].slice(0, MAX_WAITING);
  }

  /** Writes what waits, in batches. One that fails waits on, with all behind it. */
  async write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const written = this.#waiting.slice(0, NOTES_AT_ONCE);
      await this.#deps.record(written);
      this.#waiting = this.#waiting.slice(written.length);
    }
  }
}
