/** Which of several declarations of one object counts: the one that did, for as long as nobody has taken it away. Pure. */

/** One of them. */
export type Candidate = {
  /** The path of its file below the folder of manifests. */
  readonly file: string;
  /** Whether it says what the object is already. */
  readonly isAsHeld: boolean;
};

/** What is known of an object from before. */
export type Known = {
  /** The file that it is declared in. */
  readonly file: string;
  /** Files that declared it too, and in vain: they do not take over while the one that counted cannot be seen. */
  readonly rivals: readonly string[];
};

/**
 * @param candidates in the order of their places
 * @param known undefined for a new object, and for one whose file was taken away
 * @param isHeld whether there is the object
 * @param isComplete whether the folder could be read in full: what is not seen could be there
 * @returns undefined where none counts, and the object stays as it is
 */
export function chooseGoverning<C extends Candidate>(
  candidates: readonly C[],
  { known, isHeld, isComplete }: { known: Known | undefined; isHeld: boolean; isComplete: boolean },
): C | undefined {
  const asHeld = (among: readonly C[]) => among.find((candidate) => candidate.isAsHeld);
  if (known === undefined) return asHeld(candidates) ?? candidates[0];
  const own = candidates.filter(({ file }) => file === known.file);
  // Of two in one file, one was there before: the object is as it says, or nobody can tell.
  if (own.length > 0) return asHeld(own) ?? (own.length === 1 || !isHeld ? own[0] : undefined);
  if (!isComplete) return undefined;
  return candidates.find(({ file }) => !known.rivals.includes(file));
}
