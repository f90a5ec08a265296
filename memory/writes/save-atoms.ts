import type { Reach } from "../../domain/access/reach.ts";
import type { Db, Tx } from "../../store/database/change.ts";
import { InvalidAtomError } from "../../store/database/errors.ts";
import { PAGE_BYTES } from "../../store/libraries/page.ts";
import { openLibrary } from "../../store/libraries/reachable-libraries.ts";
import { faultOfOne } from "../request/atom-fields.ts";
import { foldStatement } from "../rules/near-duplicate.ts";
import type { Atom, AtomFields } from "../store/rows/atom.ts";
import { type AtomDraft, insertAtom } from "../store/writes/atom-writes.ts";
import { findNearDuplicates, MAX_SHOWN, type NearDuplicate } from "../store/writes/near-duplicates.ts";
import { type MemoryWrite, rollBack } from "./write-as.ts";

/** Number of atoms in a batch, which is saved whole or not at all. */
export const MAX_BATCH = 50;

/** Policy for a statement that the library has almost so already. */
export type DuplicatePolicy = "allow" | "report" | "refuse";

/** Near-duplicate of one of the statements that are to be saved, with the statement's `index`. */
export type FoundDuplicate = NearDuplicate & { readonly index: number };

/** Statements that are to be saved in a library. */
type Statements = {
  readonly libraryId: string;
  readonly atoms: readonly Pick<AtomFields, "content" | "validTo">[];
  readonly policy: DuplicatePolicy;
  /**
   * Returns true if the caller has saved this statement before, and is to be answered by that; `near` is what it was
   * compared with.
   */
  isRepeated?(index: number, near: readonly NearDuplicate[]): Promise<boolean>;
};

/** Returns the near-duplicates that a save is refused for; those with other numbers are only shown beside it. */
export function refusing(near: readonly FoundDuplicate[]): readonly FoundDuplicate[] {
  return near.filter(({ otherNumbers }) => !otherNumbers);
}

/**
 * Finds the atoms that say almost the same as statements: none by the policy `allow`; of atoms that refuse a save, the
 * first MiB.
 *
 * @throws InvalidAtomError for a batch that says the same twice
 */
export async function findDuplicateAtoms(
  db: Db,
  reach: Reach,
  { libraryId, atoms, policy, isRepeated = async () => false }: Statements,
): Promise<FoundDuplicate[]> {
  if (policy === "allow") return [];
  if (policy === "refuse") assertNoneTwice(atoms.map(({ content }) => content));
  const found: FoundDuplicate[] = [];
  let held = 0;
  let heldBeside = 0;
  for (const [index, { content, validTo }] of atoms.entries()) {
    const near = await findNearDuplicates(db, reach, libraryId, content, validTo);
    // Asked afterwards: what was found may be what the same call has saved meanwhile.
    if (near.length > 0 && (await isRepeated(index, near))) continue;
    const ofIndex = near.slice(0, MAX_SHOWN).map((duplicate) => ({ ...duplicate, index }));
    const refused = refusing(ofIndex);
    // Duplicates that refuse nothing are shown up to a page of bytes.
    found.push(...(heldBeside > PAGE_BYTES ? refused : ofIndex));
    held += bytesOf(refused);
    heldBeside += bytesOf(ofIndex) - bytesOf(refused);
    if (policy === "refuse" && held > PAGE_BYTES) break;
  }
  return found;
}

function bytesOf(found: readonly FoundDuplicate[]): number {
  return found.reduce((sum, { atom }) => sum + Buffer.byteLength(atom.content), 0);
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
 * Stores one of several atoms that are saved together.
 *
 * @throws InvalidAtomError for a link that leads nowhere, with the index of the atom if there are several
 */
export async function insertOneOf(
  tx: Tx,
  reach: Reach,
  draft: AtomDraft,
  { index, of }: { readonly index: number; readonly of: number },
): Promise<Atom> {
  const inserted = await insertAtom(tx, reach, draft).catch((error: unknown) => {
    throw of > 1 ? faultOfOne(error, index) : error;
  });
  return inserted ?? rollBack();
}

/**
 * Returns the write that stores atoms in a library: all of them, or none.
 *
 * @param at milliseconds since the epoch
 */
export function insertion(atoms: readonly AtomFields[], libraryId: string, at: number): MemoryWrite<Atom[]> {
  return {
    async write(tx, reach) {
      const into = (await openLibrary(tx, reach, libraryId)) ?? rollBack();
      const saved: Atom[] = [];
      for (const [index, fields] of atoms.entries()) {
        saved.push(await insertOneOf(tx, reach, { ...fields, libraryId: into, at }, { index, of: atoms.length }));
      }
      return saved;
    },
    libraryOf: () => libraryId,
  };
}
