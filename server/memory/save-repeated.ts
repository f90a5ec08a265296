import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Db } from "../../store/database/change.ts";
import type { Atom, AtomFields } from "../../store/memory/atom.ts";
import { insertAtom } from "../../store/memory/atom-writes.ts";
import { type AtomSaver, beginAtoms, endAtoms, findSavedAtom } from "../../store/memory/repeatable-atoms.ts";
import { sha256 } from "../http/idempotency-key.ts";
import { reachOf } from "./libraries.ts";
import { callerOf, inOrder } from "./save-once.ts";
import { type MemoryWrite, rollBack } from "./write-as.ts";

/** Atoms that are known again by all that they say, for callers that have no Idempotency-Key. */
export type RepeatableAtoms = {
  /** Whether the key has saved this one before, and it is still as it was saved. */
  isRepeated(db: Db, index: number): Promise<boolean>;
  /** Saves those that are not there yet, in one transaction: all of them, or none. */
  readonly insertion: MemoryWrite<SavedAtoms>;
};

type SavedAtoms = {
  /** In the order of what was sent. */
  readonly atoms: readonly Atom[];
  /** How many atoms were written now. */
  readonly made: number;
};

/**
 * What a key saves in a library, each statement once for its content and all other fields.
 *
 * @param at milliseconds since the epoch
 */
export function repeatableAtoms(
  key: KeyRecord,
  { libraryId, atoms, at }: { libraryId: string; atoms: readonly AtomFields[]; at: number },
): RepeatableAtoms {
  const saver: AtomSaver = { caller: `${callerOf(key)}/by-content`, libraryId };
  const digests = atoms.map((fields) => sha256(JSON.stringify([libraryId, fields], inOrder)));
  return {
    async isRepeated(db, index) {
      const digest = digests[index];
      return digest !== undefined && (await findSavedAtom(db, reachOf(key), saver, digest)) !== undefined;
    },
    insertion: {
      async write(tx, reach) {
        const known = await beginAtoms(tx, reach, saver, [...new Set(digests)]);
        const made = new Map<string, Atom>();
        const saved: Atom[] = [];
        for (const [index, fields] of atoms.entries()) {
          const digest = digests[index] ?? "";
          const before = known.get(digest) ?? made.get(digest);
          const atom = before ?? (await insertAtom(tx, reach, { ...fields, libraryId, at })) ?? rollBack();
          if (before === undefined) made.set(digest, atom);
          saved.push(atom);
        }
        await endAtoms(tx, saver, made);
        return { atoms: saved, made: made.size };
      },
      libraryOf: () => libraryId,
    },
  };
}
