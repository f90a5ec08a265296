import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Reach } from "../../domain/access/reach.ts";
import { sha256 } from "../../server/http/idempotency-key.ts";
import type { SaveRecords } from "../../server/product/deps.ts";
import type { Db } from "../../store/database/change.ts";
import { openLibrary } from "../../store/libraries/reachable-libraries.ts";
import type { Atom, AtomFields } from "../store/rows/atom.ts";
import { findNearDuplicates, isOverruled, type NearDuplicate } from "../store/writes/near-duplicates.ts";
import { beginAtoms, endAtoms, findSavedAtom } from "../store/writes/repeatable-atoms.ts";
import { insertOneOf } from "./save-atoms.ts";
import { callerOf, inOrder } from "./save-once.ts";
import { type MemoryWrite, rollBack } from "./write-as.ts";

/** Atoms that are recognized by all that they say, for callers that have no Idempotency-Key. */
export type RepeatableAtoms = {
  /**
   * Returns true if the key has saved this atom before, it is still as it was saved, and no near atom that says
   * otherwise was saved since: else it is saved anew.
   *
   * @param near atoms that it was compared with; it is compared now if they are left out
   */
  isRepeated(db: Db, index: number, near?: readonly NearDuplicate[]): Promise<boolean>;
  /** Write that saves the atoms that are not there yet, in one transaction: all of them, or none. */
  readonly insertion: MemoryWrite<SavedAtoms>;
};

type SavedAtoms = {
  /** Atoms in the order of the request. */
  readonly atoms: readonly Atom[];
  /** Number of atoms that were written now. */
  readonly made: number;
};

type AtomsToSave = {
  readonly libraryId: string;
  readonly atoms: readonly AtomFields[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly recordCapacity: SaveRecords;
};

/** Prepares the save of a key's atoms in a library, each once by its content and all other fields. */
export function repeatableAtoms(
  key: KeyRecord,
  reach: Reach,
  { libraryId, atoms, at, recordCapacity }: AtomsToSave,
): RepeatableAtoms {
  const caller = `${callerOf(key, reach)}/by-content`;
  const digests = atoms.map((fields) => sha256(JSON.stringify([libraryId, fields], inOrder)));
  const overruled = new Set<string>();
  let found: Promise<ReadonlyMap<string, Atom>> | undefined;
  /** Finds the atoms of the call that were saved before, by digest. */
  const findKnown = (db: Db) => {
    found ??= findAll(new Set(digests), (digest) => findSavedAtom(db, reach, caller, digest));
    return found;
  };
  return {
    async isRepeated(db, index, compared) {
      const { content = "", validTo } = atoms[index] ?? {};
      const known = await findKnown(db);
      const saved = known.get(digests[index] ?? "");
      if (saved === undefined) return false;
      const near = compared ?? (await findNearDuplicates(db, reach, libraryId, content, validTo));
      // What the call says beside it overrules it no more the second time than the first.
      const own = new Set([...known.values()].map(({ id }) => id));
      if (
        isOverruled(
          saved,
          near.filter(({ atom }) => !own.has(atom.id)),
        )
      )
        overruled.add(saved.id);
      return !overruled.has(saved.id);
    },
    insertion: {
      async write(tx, reach) {
        const into = (await openLibrary(tx, reach, libraryId)) ?? rollBack();
        const once = [...new Set(digests)];
        const hasCapacity = (await recordCapacity.waitFor(tx, caller, once.length)) === 0;
        const begun = await beginAtoms(tx, reach, { caller, libraryId: into, hasCapacity }, once);
        const standing = new Map([...begun].filter(([, { id }]) => !overruled.has(id)));
        const made = new Map<string, Atom>();
        const saved: Atom[] = [];
        for (const [index, fields] of atoms.entries()) {
          const digest = digests[index] ?? "";
          const before = standing.get(digest) ?? made.get(digest);
          const position = { index, of: atoms.length };
          const atom = before ?? (await insertOneOf(tx, reach, { ...fields, libraryId: into, at }, position));
          if (before === undefined) made.set(digest, atom);
          saved.push(atom);
        }
        await endAtoms(tx, caller, made);
        return { atoms: saved, made: made.size };
      },
      libraryOf: () => libraryId,
    },
  };
}

async function findAll(
  digests: ReadonlySet<string>,
  find: (digest: string) => Promise<Atom | undefined>,
): Promise<ReadonlyMap<string, Atom>> {
  const found = new Map<string, Atom>();
  for (const digest of digests) {
    const atom = await find(digest);
    if (atom !== undefined) found.set(digest, atom);
  }
  return found;
}
