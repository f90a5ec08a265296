import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Db } from "../../store/database/change.ts";
import type { ReachableLibrary } from "../../store/memory/reachable-libraries.ts";
import { type Problem, problem } from "../http/errors.ts";
import { findNamedLibrary, noSuchLibrary } from "./libraries.ts";

export const NO_ATOM = problem("not_found", "There is no atom of this id for this key.");

/** @throws Problem `not_found` for a library that the key may not reach either */
export async function requireLibrary(db: Db, key: KeyRecord, named: string): Promise<ReachableLibrary> {
  const library = await findNamedLibrary(db, key, named);
  if (library === undefined) throw noLibrary(named);
  return library;
}

export function noLibrary(named: string): Problem {
  return problem("not_found", noSuchLibrary(named));
}
