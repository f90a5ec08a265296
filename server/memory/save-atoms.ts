import { foldStatement } from "../../domain/memory/near-duplicate.ts";
import type { Db } from "../../store/database/change.ts";
import { InvalidAtomError } from "../../store/database/errors.ts";
import type { Atom, AtomFields, Reach } from "../../store/memory/atom.ts";
import { insertAtom } from "../../store/memory/atom-writes.ts";
import { findNearDuplicates, type NearDuplicate } from "../../store/memory/near-duplicates.ts";
import { PAGE_BYTES } from "../../store/memory/page.ts";
import { type MemoryWrite, rollBack } from "./write-as.ts";

/** Atoms of one batch, which is saved whole or not at all. */
export const MAX_BATCH = 50;

/** What becomes of a statement that the library has almost so already. */
export type DuplicatePolicy = "allow" | "report" | "refuse";

/** A near-duplicate of one of the statements that are to be saved, which `index` counts. */
export type FoundDuplicate = NearDuplicate & { readonly index: number };

/**
 * What a library has almost so already; nothing where it is not asked for, and of what refuses a save the first MiB.
 *
 * @throws InvalidAtomError for a batch that says the same twice
 */
export async function findDuplicateAtoms(
  db: Db,
  reach: Reach,
  { libraryId, contents, policy }: { libraryId: string; contents: readonly string[]; policy: DuplicatePolicy },
): Promise<FoundDuplicate[]> {
  if (policy === "allow") return [];
  if (policy === "refuse") assertNoneTwice(contents);
  const found: FoundDuplicate[] = [];
  let held = 0;
  for (const [index, content] of contents.entries()) {
    const near = await findNearDuplicates(db, reach, libraryId, content);
    found.push(...near.map((duplicate) => ({ ...duplicate, index })));
    // What refuses a save is shown, and a page of it does.
    held += near.reduce((sum, { atom }) => sum + Buffer.byteLength(atom.content), 0);
    if (policy === "refuse" && held > PAGE_BYTES) break;
  }
  return found;
}

function assertNoneTwice(contents: readonly string[]): void {
  const first = new Map<string, number>();
  for (const [index, content] of contents.entries()) {
    const folded = foldStatement(content);
    const before = first.get(folded);
    if (before !== undefined) {
      throw new InvalidAtomError(`"atoms.${index}" says the same as "atoms.${before}": leave one of them out.`);
    }
    first.set(folded, index);
  }
}

/**
 * Stores atoms in a library: all of them, or none.
 *
 * @param at milliseconds since the epoch
 */
export function insertion(atoms: readonly AtomFields[], libraryId: string, at: number): MemoryWrite<Atom[]> {
  return {
    async write(tx, reach) {
      const saved: Atom[] = [];
      for (const fields of atoms) {
        const atom = await insertAtom(tx, reach, { ...fields, libraryId, at });
        if (atom === undefined) return rollBack();
        saved.push(atom);
      }
      return saved;
    },
    libraryOf: () => libraryId,
  };
}
