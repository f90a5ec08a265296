/**
 * Choice of the declaration that governs an object that is declared more than once: the declaration that governed
 * before, until it is removed. Pure.
 */

/** Declaration of an object that is declared more than once. */
export type DeclarationCandidate = {
  /** Path of its file below the folder of manifests. */
  readonly file: string;
  /** Text that differs for each content, and is the same wherever its file is moved. */
  readonly content: string;
  /** True if it declares the object as it already is. */
  readonly isAsHeld: boolean;
};

/** Declaration that had no effect beside the declaration that governs. */
export type Rival = { readonly file: string; readonly content: string };

/** Knowledge of an object from an earlier reading. */
export type KnownDeclaration = {
  /** File that declares the object. */
  readonly file: string;
  /**
   * Other declarations of the object, which had no effect: they do not take over while the file that counted cannot be
   * seen.
   */
  readonly rivals: readonly Rival[];
};

/** True if a declaration had no effect before, under this name or another: a rename changes nothing. */
export function isRival(known: KnownDeclaration | undefined, { file, content }: Rival): boolean {
  return known?.rivals.some((rival) => rival.file === file || rival.content === content) ?? false;
}

/**
 * Chooses the declaration that governs an object.
 *
 * @param candidates in the order of their positions
 * @param known undefined for a new object, and for an object whose file was taken away
 * @param isHeld true if the object exists
 * @param isComplete true if the folder could be read in full: otherwise an unseen file could still be there
 * @returns undefined if no declaration counts, and the object stays as it is
 */
export function chooseGoverning<C extends DeclarationCandidate>(
  candidates: readonly C[],
  { known, isHeld, isComplete }: { known: KnownDeclaration | undefined; isHeld: boolean; isComplete: boolean },
): C | undefined {
  const asHeld = (among: readonly C[]) => among.find((candidate) => candidate.isAsHeld);
  // If several would all change an existing object, none is chosen: it is not known which of them is meant.
  const only = (among: readonly C[]) => (among.length === 1 || !isHeld ? among[0] : undefined);
  if (known === undefined) return asHeld(candidates) ?? only(candidates);
  const own = candidates.filter(({ file }) => file === known.file);
  if (own.length > 0) return asHeld(own) ?? only(own);
  if (!isComplete) return undefined;
  // First the declaration that governed, under another name, or its like; then what would change the object.
  const newcomers = candidates.filter(({ file }) => !known.rivals.some((rival) => rival.file === file));
  if (candidates.some(({ isAsHeld }) => isAsHeld)) return asHeld(newcomers);
  return only(newcomers.filter((one) => !isRival(known, one)));
}
