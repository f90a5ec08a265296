/** Objects that are held and no longer declared in the folder of manifests, each with the likely reason. */
import type { Kind, Spec } from "../../../../domain/kinds/kinds.ts";
import { type Absence, explainAbsence, type Origin } from "./absence.ts";
import type { Declarations, Duplicated } from "./declarations.ts";
import type { FolderReading } from "./folder.ts";

/** Object that was declared. A `Secret` has no spec. */
export type DeclaredBefore = {
  readonly kind: Kind | "Secret";
  readonly namespace: string;
  readonly name: string;
  readonly spec?: Spec;
};

export type MissingObject<D extends DeclaredBefore = DeclaredBefore> = D & {
  /** Key of the object's origin. */
  readonly key: string;
  readonly absence: Absence;
};

/**
 * Finds the objects that are held and no longer declared.
 *
 * @param originOf returns where an object was declared when it was seen last, by its key
 * @returns in the order of their keys
 */
export function findMissing<D extends DeclaredBefore>(
  held: readonly D[],
  originOf: (key: string) => Origin | undefined,
  now: Declarations,
  { root, foundEntries, files }: Pick<FolderReading, "root" | "foundEntries" | "files">,
): MissingObject<D>[] {
  const known = new Map(files.map((file) => [file.name, file]));
  const state = {
    root,
    foundEntries,
    file: (name: string) => known.get(name),
    diagnostics: now.faultyFiles,
    hiding: now.hidingFiles,
  };

  function absenceOf(key: string, name: string): Absence {
    const contested = now.contested.get(key);
    const origin = originOf(key);
    if (contested !== undefined && origin === undefined) return undecided(contested);
    const absence = explainAbsence(origin, name, state);
    return contested?.isAlike && absence.is !== "held" ? { is: "declared alike" } : absence;
  }

  const missing = held.flatMap((one) => {
    const key = `${one.kind}/${one.namespace}/${one.name}`;
    return now.locations.has(key) ? [] : [{ ...one, key, absence: absenceOf(key, one.name) }];
  });
  return missing.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Returns the absence of an object whose governing declaration was taken away, if several others are left. */
const undecided = ({ at }: Duplicated): Absence => ({
  is: "held",
  why: `${at.join(" and ")} declare it, and none as it is. Leave one of them.`,
});
