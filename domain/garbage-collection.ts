/**
 * Garbage collection of rows whose declaration is gone, decided without a request (architecture §2). A list of
 * declarations only makes suspects: each is looked up by name, and ends once two answers, apart, have said that it is
 * gone.
 */

/** Answer of a cluster about one object that is looked up by name and uid. */
export type Presence =
  | "present"
  /** The cluster itself has answered that this very object does not exist, or that another has its name by now. */
  | "gone"
  /** Any other answer: a refusal, a kind that is not served, a failure, a timeout. It ends nothing. */
  | "unknown";

/** Minimum time between the two answers, and minimum age of a row that is looked at. Milliseconds. */
export const ANSWERS_APART_MS = 20_000;
/** Milliseconds between two look-ups by name. */
const LOOK_UP_PAUSE_MS = 100;
/** Maximum milliseconds that a look-up waits, even among many: each row has both answers within a minute. */
const MAX_LOOK_UP_WAIT_MS = 7_500;
/** Maximum number of one kind that ends at once, unless it is no more than `MAX_DELETED_SHARE` of the kind. */
const MAX_DELETIONS = 10;
const MAX_DELETED_SHARE = 0.05;
/** Number of look-ups if that limit is exceeded: a single object that does exist shows that the list was wrong. */
const SAMPLE = 10;

/** A row of the store that is missing in the list of declarations. */
export type OrphanCandidate = {
  readonly id: string;
  /** Age by the database's clock. Milliseconds. */
  readonly ageMs: number;
};

/** Time at which it was first reported gone, on a steady clock; undefined if nothing has reported it gone yet. */
export type Suspect = { readonly goneAt: number | undefined };
/** Suspects of the scan before, by their id in the store. */
export type Suspects = ReadonlyMap<string, Suspect>;

/** A scan of the candidates of one kind. */
export type OrphanScan<C extends OrphanCandidate> = {
  readonly suspects: readonly C[];
  /** Suspects to look up in the cluster. */
  readonly ask: readonly C[];
  /** True if too many have been missing since the scan before: none of them ends. */
  readonly isPaused: boolean;
};

/** Answer about a suspect, and the times of the look-up and the answer, on a steady clock in milliseconds. */
type PresenceAnswer = { readonly presence: Presence; readonly askedAt: number; readonly answeredAt: number };

/**
 * Begins a scan. Rows younger than {@link ANSWERS_APART_MS} are skipped, because they may be younger than the list.
 * `total` counts all rows of the kind.
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
 * Judges one suspect by its own answers, without waiting for those about others.
 *
 * @param before its state after the scan before
 * @returns whether it ends, and its state for the next scan: undefined if it is no suspect any more
 */
export function judgeSuspect(
  { isPaused }: Pick<OrphanScan<OrphanCandidate>, "isPaused">,
  { presence, askedAt, answeredAt }: PresenceAnswer,
  before: Suspect | undefined,
): { readonly ends: boolean; readonly left: Suspect | undefined } {
  if (presence === "present") return { ends: false, left: undefined };
  const goneAt = before?.goneAt;
  if (presence === "unknown") return { ends: false, left: { goneAt } };
  const ends = !isPaused && goneAt !== undefined && askedAt - goneAt >= ANSWERS_APART_MS;
  return { ends, left: ends ? undefined : { goneAt: goneAt ?? answeredAt } };
}

/**
 * Returns when a look-up by name is sent: {@link LOOK_UP_PAUSE_MS} after the one before it. If it would thus wait for
 * too long, it is sent now, and later look-ups count from it. On a steady clock, in milliseconds.
 *
 * @param before when the look-up before it is sent; -Infinity for none
 */
export function lookUpAt(now: number, before: number): number {
  const at = Math.max(now, before + LOOK_UP_PAUSE_MS);
  return at - now < MAX_LOOK_UP_WAIT_MS ? at : now;
}

/** True if more declarations are missing than may end at once. */
export function exceedsDeletionLimit(missing: number, total: number): boolean {
  return missing > MAX_DELETIONS && missing > total * MAX_DELETED_SHARE;
}
