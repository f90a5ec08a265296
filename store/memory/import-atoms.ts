import { sql } from "kysely";
import type { Tx } from "../database/change.ts";
import type { AtomFields, AtomLink, Reach } from "./atom.ts";
import { correctAtom, insertAtom } from "./atom-writes.ts";
import { presentIds } from "./atoms.ts";
import { importedIds, type KnownImport, knownImports, recordImport, saidOf } from "./known-imports.ts";

/** An atom that comes from elsewhere. Times are milliseconds since the epoch. */
export type ImportedAtom = AtomFields & {
  /** What it was called there, for the links of others that come with it. */
  readonly formerId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** What became of one: `newer` is left as it is, since the library's has changed since it was exported. */
export const OUTCOMES = ["created", "corrected", "unchanged", "newer"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type Import = {
  /** In the order of what was given. */
  readonly ids: readonly string[];
  readonly outcomes: readonly Outcome[];
  /** Links that led to nothing that is there for the caller. */
  readonly droppedLinks: number;
};

export type ImportTarget = {
  readonly libraryId: string;
  /** When what is known by its former id is corrected, in milliseconds since the epoch; null to store each as a new one. */
  readonly upsertAt: number | null;
};

/**
 * Stores atoms that come from elsewhere, with their own times. Their links lead to each other by what they were called,
 * or to atoms that are there; others are dropped.
 *
 * With `upsertAt` an atom that the library knows by its former id is that atom again: it stays as it is while the same is
 * said of it, and is corrected where that has changed. Links then lead to what was imported before, too, and one that
 * led nowhere is set once its target is there.
 *
 * @returns undefined when the library is not there to this caller: then some may have been stored
 */
export async function importAtoms(
  tx: Tx,
  reach: Reach,
  { libraryId, upsertAt }: ImportTarget,
  atoms: readonly ImportedAtom[],
): Promise<Import | undefined> {
  const formerIds = atoms.flatMap(({ formerId }) => formerId ?? []);
  const known: ReadonlyMap<string, KnownImport> =
    upsertAt === null ? new Map() : await knownImports(tx, reach, libraryId, formerIds);
  const imported: (KnownImport & { readonly atom: ImportedAtom; readonly outcome: Outcome })[] = [];
  for (const atom of atoms) {
    const { formerId, createdAt, updatedAt, ...fields } = atom;
    const before = formerId === null ? undefined : known.get(formerId);
    if (before !== undefined) {
      imported.push({ ...before, atom, outcome: outcomeOf(before, atom) });
      continue;
    }
    const draft = { ...fields, links: [], libraryId, at: createdAt, updatedAt };
    const saved = await insertAtom(tx, reach, draft);
    if (saved === undefined) return undefined;
    const { id, revision } = saved;
    imported.push({ ...{ id, revision, said: "", hasOpenLinks: false, updatedAt }, atom, outcome: "created" });
  }
  const links = await resolvedLinks(
    ...[tx, reach, upsertAt === null ? null : libraryId],
    imported.map(({ id, atom }) => ({ id, formerId: atom.formerId, links: atom.links })),
  );
  let droppedLinks = 0;
  for (const [index, { atom, outcome, ...before }] of imported.entries()) {
    if (outcome === "newer" || (outcome === "unchanged" && !before.hasOpenLinks)) continue;
    const kept = links[index] ?? [];
    const dropped = atom.links.length - kept.length;
    droppedLinks += dropped;
    const { formerId, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = atom;
    let { revision } = before;
    if (outcome === "corrected") {
      const expected = null;
      const correction = await correctAtom(tx, reach, before.id, {
        ...fields,
        links: kept,
        expected,
        at: upsertAt ?? 0,
      });
      if (correction.kind !== "corrected") return undefined;
      revision = correction.atom.revision;
    } else if (kept.length > 0) {
      await setLinks(tx, before, kept);
    }
    if (upsertAt === null || formerId === null) continue;
    await recordImport(tx, libraryId, formerId, {
      id: before.id,
      said: saidOf(fields),
      revision,
      hasOpenLinks: dropped > 0,
    });
  }
  return { ids: imported.map(({ id }) => id), outcomes: imported.map(({ outcome }) => outcome), droppedLinks };
}

function outcomeOf(
  before: KnownImport,
  { formerId: _formerId, createdAt: _createdAt, updatedAt, ...fields }: ImportedAtom,
): Outcome {
  if (before.said === saidOf(fields)) return "unchanged";
  return before.updatedAt !== null && before.updatedAt > updatedAt ? "newer" : "corrected";
}

type Linked = { readonly id: string; readonly formerId: string | null; readonly links: readonly AtomLink[] };

/**
 * Of the links of each those that lead somewhere, by the ids that their targets have here.
 *
 * @param libraryId in which targets are known by what they were called; null where only those that come along are
 */
async function resolvedLinks(
  tx: Tx,
  reach: Reach,
  libraryId: string | null,
  atoms: readonly Linked[],
): Promise<readonly AtomLink[][]> {
  const here = new Map(atoms.flatMap(({ id, formerId }) => (formerId === null ? [] : [[formerId, id] as const])));
  const led = [...new Set(atoms.flatMap(({ links }) => links.map(({ id }) => id)))];
  const elsewhere = led.filter((id) => !here.has(id));
  const before = libraryId === null ? here : await importedIds(tx, reach, libraryId, elsewhere);
  const idOf = (formerId: string) => here.get(formerId) ?? before.get(formerId) ?? formerId;
  const present = await presentIds(tx, reach, led.map(idOf));
  return atoms.map(({ links }) =>
    links.map(({ rel, id }) => ({ rel, id: idOf(id) })).filter(({ id }) => present.has(id)),
  );
}

/** What is imported is one revision, links and all. One that was corrected meanwhile keeps its own. */
async function setLinks(tx: Tx, { id, revision }: KnownImport, links: readonly AtomLink[]): Promise<void> {
  await sql`update atoms set links = ${JSON.stringify(links)}::jsonb
    where id = ${id}::uuid and revision = ${revision}::integer`.execute(tx);
}
