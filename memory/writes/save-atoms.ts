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

/** Atoms of one batch, which is saved whole or not at all. */
export const MAX_BATCH = 50;

/** What becomes of a statement that the library has almost so already. */
export type DuplicatePolicy = "allow" | "report" | "refuse";

/** A near-duplicate of one of the statements that are to be saved, which `index` counts. */
export type FoundDuplicate = NearDuplicate & { readonly index: number };

/** Statements that are to be saved in a library. */
type Statements = {
  readonly libraryId: string;
  readonly contents: readonly string[];
  readonly policy: DuplicatePolicy;
  /** Whether its caller has saved one of them before, and is to be answered by that; `near` is what it was compared with. */
  isRepeated?(index: number, near: readonly NearDuplicate[]): Promise<boolean>;
};

/** Those for which a save is refused; what has other numbers is shown beside what is saved. */
export function refusing(near: readonly FoundDuplicate[]): readonly FoundDuplicate[] {
  return near.filter(({ otherNumbers }) => !otherNumbers);
}

/**
 * What a library has almost so already; nothing where it is not asked for, and of what refuses a save the first MiB.
 *
 * @throws InvalidAtomError for a batch that says the same twice
 */
export async function findDuplicateAtoms(
  db: Db,
  reach: Reach,
  { libraryId, contents, policy, isRepeated = async () => false }: Statements,
): Promise<FoundDuplicate[]> {
  if (policy === "allow") return [];
  if (policy === "refuse") assertNoneTwice(contents);
  const found: FoundDuplicate[] = [];
  let held = 0;
  let heldBeside = 0;
  for (const [index, content] of contents.entries()) {
    const near = await findNearDuplicates(db, reach, libraryId, content);
    // Asked afterwards: what was found may be what the same call has saved meanwhile.
    if (near.length > 0 && (await isRepeated(index, near))) continue;
    const ofIndex = near.slice(0, MAX_SHOWN).map((duplicate) => ({ ...duplicate, index }));
    const refused = refusing(ofIndex);
    // Of what is shown a page does: of what refuses nothing there may be as much again.
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
 * Stores one of some atoms that are saved together.
 *
 * @throws InvalidAtomError for a link that leads nowhere, with the place of the atom where there are several
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
 * Stores atoms in a library: all of them, or none.
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
