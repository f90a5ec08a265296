/**
 * What ends because its declaration is gone, decided without a request (architecture §2). A list of declarations only
 * makes suspects: each is asked for by name, and ends once two answers, apart, have said that it is gone.
 */

/** What a cluster says of one object that it is asked for by name and uid. */
export type Presence =
  | "present"
  /** The cluster itself has said of this very object that there is none, or that its name is another's by now. */
  | "gone"
  /** Anything else: a refusal, a kind that is not served, a failure, silence. It ends nothing. */
  | "unknown";

/** The least time between the two answers, and the age from which a row is looked at. Milliseconds. */
export const ANSWERS_APART_MS = 20_000;
/** From one question by name to the next. Milliseconds. */
const LOOK_UP_PAUSE_MS = 100;
/** However many are asked at once, none waits for longer: of many, too, each has both answers within a minute. */
const MAX_LOOK_UP_WAIT_MS = 7_500;
/** More of one kind than this many, and than this share of it, are not ended at once. */
const MAX_DELETIONS = 10;
const MAX_DELETED_SHARE = 0.05;
/** Where that limit is exceeded so many are asked for: one that is there after all shows that the list was wrong. */
const SAMPLE = 10;

/** What the store has and the list of declarations lacks. */
export type OrphanCandidate = {
  readonly id: string;
  /** By the database's clock. Milliseconds. */
  readonly ageMs: number;
};

/** When it was first said to be gone, on a steady clock; undefined where nothing has said so yet. */
export type Suspect = { readonly goneAt: number | undefined };
/** The suspects of the scan before, by the id of what the store has. */
export type Suspects = ReadonlyMap<string, Suspect>;

/** One scan of the candidates of one kind. */
export type OrphanScan<C extends OrphanCandidate> = {
  readonly suspects: readonly C[];
  /** Those that the cluster is to be asked for. */
  readonly ask: readonly C[];
  /** Too many have been missing since the scan before: none of them ends. */
  readonly isPaused: boolean;
};

/** What was answered about a suspect, and when it was asked and answered, on a steady clock in milliseconds. */
type Answer = { readonly presence: Presence; readonly askedAt: number; readonly answeredAt: number };

/**
 * Begins a scan: a row younger than {@link ANSWERS_APART_MS} may be younger than the list. `total` counts all of the
 * kind.
 */
export function beginOrphanScan<C extends OrphanCandidate>(
  candidates: readonly C[],
  total: number,
  before: Suspects,
): OrphanScan<C> {
  const suspects = candidates.filter(({ ageMs }) => ageMs >= ANSWERS_APART_MS);
  const due = suspects.filter(({ id }) => before.has(id));
  const fresh = suspects.filter(({ id }) => !before.has(id));
  const ask = [due, fresh].flatMap((some) => (exceedsDeletionLimit(some.length, total) ? some.slice(0, SAMPLE) : some));
  return { suspects, ask, isPaused: exceedsDeletionLimit(due.length, total) };
}

/**
 * Judges one suspect by its own answers: no other's are waited for.
 *
 * @param before what the scan before left of it
 * @returns whether it ends, and what it is as a suspect of the next scan: undefined where it is none any more
 */
export function judgeSuspect(
  { isPaused }: Pick<OrphanScan<OrphanCandidate>, "isPaused">,
  { presence, askedAt, answeredAt }: Answer,
  before: Suspect | undefined,
): { readonly ends: boolean; readonly left: Suspect | undefined } {
  if (presence === "present") return { ends: false, left: undefined };
  const goneAt = before?.goneAt;
  if (presence === "unknown") return { ends: false, left: { goneAt } };
  const ends = !isPaused && goneAt !== undefined && askedAt - goneAt >= ANSWERS_APART_MS;
  return { ends, left: ends ? undefined : { goneAt: goneAt ?? answeredAt } };
}

/**
 * When a question by name is sent: {@link LOOK_UP_PAUSE_MS} after the one before it, and where that would be too late
 * beside those that wait, from now on anew. On a steady clock, in milliseconds.
 *
 * @param before when the last one is sent that was asked before; -Infinity for none
 */
export function lookUpAt(now: number, before: number): number {
  const at = Math.max(now, before + LOOK_UP_PAUSE_MS);
  return at - now < MAX_LOOK_UP_WAIT_MS ? at : now;
}

/** Whether so many declarations that are missing are more than may be believed at once. */
export function exceedsDeletionLimit(missing: number, total: number): boolean {
  return missing > MAX_DELETIONS && missing > total * MAX_DELETED_SHARE;
}
