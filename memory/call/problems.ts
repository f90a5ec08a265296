import type { KeyRecord } from "../../domain/access/key-record.ts";
import { type Problem, problem } from "../../server/http/problems/problem.ts";
import { findRequestedLibrary, noSuchLibrary } from "../../server/libraries/libraries.ts";
import type { LibraryUser } from "../../server/libraries/library-use.ts";
import type { Db } from "../../store/database/change.ts";
import type { ReachableLibrary } from "../../store/libraries/reachable-libraries.ts";

/** Refusal of a change of an atom that all subjects share, by a call for one of them. */
export const SHARED_ATOM =
  "This atom is shared by all subjects, and a call for one subject changes that subject's own alone: save what applies to this one as a new atom, or change the shared one with a key that has no subject.";

export const NO_ATOM = problem("not_found", "There is no atom of this id for this key.");

/**
 * Returns the library that a call means, and notes its use: the library that it names, else the default.
 *
 * @throws Problem `not_found` for a library that is not there, or that the key may not reach; `invalid_request` if
 * there is no default
 */
export async function requireLibrary(
  db: Db,
  { key, noteLibrary }: LibraryUser,
  named: string | undefined,
): Promise<ReachableLibrary> {
  const library = await findRequestedLibrary(db, key, named);
  if (library === undefined) throw await noLibrary(db, key, named);
  noteLibrary(library.id);
  return library;
}

export async function noLibrary(db: Db, key: KeyRecord, named: string | undefined): Promise<Problem> {
  return problem(named === undefined ? "invalid_request" : "not_found", await noSuchLibrary(db, key, named));
}
