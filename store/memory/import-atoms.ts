import { type QueryExecutorProvider, sql } from "kysely";
import type { AtomFields, Reach } from "./atom.ts";
import { insertAtom } from "./atom-writes.ts";
import { linkRule } from "./atoms.ts";
import { openLibrary } from "./reachable-libraries.ts";

/** An atom that comes from elsewhere. Times are milliseconds since the epoch. */
export type ImportedAtom = AtomFields & {
  /** What it was called there, for the links of others that come with it. */
  readonly formerId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type Import = {
  /** In the order of what was given. */
  readonly ids: readonly string[];
  /** Links that led to nothing that is there for the caller. */
  readonly droppedLinks: number;
};

/**
 * Stores atoms that come from elsewhere, each as a new one with its own times. Their links lead to each other by what
 * they were called, or to atoms that are there; others are dropped.
 *
 * @returns undefined when the library is not there to this caller: then some may have been stored
 */
export async function importAtoms(
  db: QueryExecutorProvider,
  reach: Reach,
  into: string,
  atoms: readonly ImportedAtom[],
): Promise<Import | undefined> {
  const libraryId = await openLibrary(db, reach, into);
  if (libraryId === undefined) return undefined;
  const ids: string[] = [];
  const renamed = new Map<string, string>();
  for (const { formerId, createdAt, updatedAt, ...fields } of atoms) {
    const draft = { ...fields, links: [], libraryId, at: createdAt, updatedAt };
    const saved = await insertAtom(db, reach, draft);
    if (saved === undefined) return undefined;
    ids.push(saved.id);
    if (formerId !== null) renamed.set(formerId, saved.id);
  }
  let droppedLinks = 0;
  const wanted = atoms.map(({ links }) => links.map(({ rel, id }) => ({ rel, id: renamed.get(id) ?? id })));
  const ruleOf = await linkRule(db, reach, wanted.flat());
  for (const [index, links] of wanted.entries()) {
    const kept = links.filter((link) => ruleOf(link) === "leads");
    droppedLinks += links.length - kept.length;
    // What is imported is one revision, links and all.
    if (kept.length > 0) {
      await sql`update atoms set links = ${JSON.stringify(kept)}::jsonb where id = ${ids[index]}::uuid`.execute(db);
    }
  }
  return { ids, droppedLinks };
}
