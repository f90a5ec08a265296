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
export const LOOKS_APART_MS = 20_000;
export const MAX_LOOK_UPS_PER_SECOND = 10;
/** More of one kind than this many, and than this share of it, are not ended at once. */
const MAX_DELETIONS = 10;
const MAX_DELETED_SHARE = 0.05;
/** Where that limit is exceeded so many are asked for: one that is there after all shows that the list was wrong. */
const SAMPLE = 10;

/** What the store has and the list of declarations lacks. */
export type Candidate = {
  readonly id: string;
  /** By the database's clock. Milliseconds. */
  readonly ageMs: number;
};

/** The suspects of the look before, each with the time on a steady clock at which it was first said to be gone. */
export type Suspects = ReadonlyMap<string, { readonly goneAt: number | undefined }>;

/** One look at the candidates of one kind. */
export type Look<C extends Candidate> = {
  readonly suspects: readonly C[];
  /** Those that the cluster is to be asked for. */
  readonly ask: readonly C[];
  /** Too many have been missing since the look before: none of them ends. */
  readonly isPaused: boolean;
};

/** What was answered about a candidate, and when it was asked, on a steady clock. */
export type Answer = { readonly presence: Presence; readonly askedAt: number };

/**
 * Begins a look: a row younger than {@link LOOKS_APART_MS} may be younger than the list. `total` counts all of the
 * kind.
 */
export function beginLook<C extends Candidate>(candidates: readonly C[], total: number, before: Suspects): Look<C> {
  const suspects = candidates.filter(({ ageMs }) => ageMs >= LOOKS_APART_MS);
  const due = suspects.filter(({ id }) => before.has(id));
  const fresh = suspects.filter(({ id }) => !before.has(id));
  const ask = [due, fresh].flatMap((some) => (exceedsDeletionLimit(some.length, total) ? some.slice(0, SAMPLE) : some));
  return { suspects, ask, isPaused: exceedsDeletionLimit(due.length, total) };
}

/** Ends a look: what is to be ended, and the suspects of the next look. */
export function endLook<C extends Candidate>(
  { suspects, isPaused }: Look<C>,
  answers: ReadonlyMap<string, Answer>,
  before: Suspects,
): { readonly ended: readonly C[]; readonly left: Suspects } {
  const ended: C[] = [];
  const left = new Map<string, { readonly goneAt: number | undefined }>();
  for (const suspect of suspects) {
    const { presence = "unknown", askedAt = 0 } = answers.get(suspect.id) ?? {};
    if (presence === "present") continue;
    const goneAt = before.get(suspect.id)?.goneAt;
    const isSure = presence === "gone" && goneAt !== undefined && askedAt - goneAt >= LOOKS_APART_MS;
    if (isSure && !isPaused) ended.push(suspect);
    else left.set(suspect.id, { goneAt: goneAt ?? (presence === "gone" ? askedAt : undefined) });
  }
  return { ended, left };
}

/** Whether so many declarations that are missing are more than may be believed at once. */
export function exceedsDeletionLimit(missing: number, total: number): boolean {
  return missing > MAX_DELETIONS && missing > total * MAX_DELETED_SHARE;
}
