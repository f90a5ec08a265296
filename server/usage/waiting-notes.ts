import { WaitingCounts } from "./waiting-counts.ts";

/** Notes that wait at most, while the database is away: some 40 MB. Notes beyond are lost. */
const MAX_WAITING = 100_000;

/** A note with the team of its key, among whose notes it waits. */
export type OfTeam<Note> = Note & { readonly teamId: string };

type WaitingNotesDeps<Note> = {
  /** Returns a name of what is noted: the same is written once. */
  readonly nameOf: (note: Note) => string;
  readonly record: (notes: readonly Note[]) => Promise<void>;
  /** Number of notes that are recorded at a time. */
  readonly atOnce: number;
  /** Called if notes are lost. */
  readonly onLoss: () => void;
};

/** Notes on keys by the day, until they are written. */
export class WaitingNotes<Note> {
  readonly #deps: WaitingNotesDeps<Note>;
  readonly #waiting = new WaitingCounts<OfTeam<Note>>(MAX_WAITING, (known) => known);

  constructor(deps: WaitingNotesDeps<Note>) {
    this.#deps = deps;
  }

  /** True if no note waits. */
  get isWritten(): boolean {
    return this.#waiting.size === 0;
  }

  add(notes: readonly OfTeam<Note>[]): void {
    const { nameOf, onLoss } = this.#deps;
    for (const note of notes) if (this.#waiting.add(note.teamId, nameOf(note), note) !== undefined) onLoss();
  }

  /** Writes what waits, in batches. A batch that fails waits on, behind what came meanwhile. */
  async write(): Promise<void> {
    const { record, atOnce } = this.#deps;
    while (this.#waiting.size > 0) {
      const notes = [...this.#waiting.take(atOnce).values()];
      try {
        await record(notes);
      } catch (error) {
        this.add(notes);
        throw error;
      }
    }
  }
}
