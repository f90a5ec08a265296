/** Which of several declarations of one object governs it: the one that did before, until it is removed. Pure. */

/** One of them. */
export type DeclarationCandidate = {
  /** The path of its file below the folder of manifests. */
  readonly file: string;
  /** Another one for each content, wherever its file is moved to. */
  readonly content: string;
  /** Whether it says what the object is already. */
  readonly isAsHeld: boolean;
};

/** A declaration that counted for nothing beside the one that governs. */
export type Rival = { readonly file: string; readonly content: string };

/** What is known of an object from before. */
export type Known = {
  /** The file that it is declared in. */
  readonly file: string;
  /** What declared it too, and in vain: these do not take over while the one that counted cannot be seen. */
  readonly rivals: readonly Rival[];
};

/** Whether it was there in vain before, under whatever name: a rename makes nothing of it. */
export function isRival(known: Known | undefined, { file, content }: Rival): boolean {
  return known?.rivals.some((rival) => rival.file === file || rival.content === content) ?? false;
}

/**
 * @param candidates in the order of their places
 * @param known undefined for a new object, and for one whose file was taken away
 * @param isHeld whether there is the object
 * @param isComplete whether the folder could be read in full: what is not seen could be there
 * @returns undefined where none counts, and the object stays as it is
 */
export function chooseGoverning<C extends DeclarationCandidate>(
  candidates: readonly C[],
  { known, isHeld, isComplete }: { known: Known | undefined; isHeld: boolean; isComplete: boolean },
): C | undefined {
  const asHeld = (among: readonly C[]) => among.find((candidate) => candidate.isAsHeld);
  // Where several would all change an object that is there, none is chosen: which one is meant is not known.
  const only = (among: readonly C[]) => (among.length === 1 || !isHeld ? among[0] : undefined);
  if (known === undefined) return asHeld(candidates) ?? only(candidates);
  const own = candidates.filter(({ file }) => file === known.file);
  if (own.length > 0) return asHeld(own) ?? only(own);
  if (!isComplete) return undefined;
  // The one that governed under another name, or its like, before all that would change the object.
  const newcomers = candidates.filter(({ file }) => !known.rivals.some((rival) => rival.file === file));
  if (candidates.some(({ isAsHeld }) => isAsHeld)) return asHeld(newcomers);
  return only(newcomers.filter((one) => !isRival(known, one)));
}
