import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Tx } from "../../../store/database/change.ts";
import { openLibrary } from "../../../store/libraries/reachable-libraries.ts";
import type { AtomFields, AtomLink } from "../rows/atom.ts";
import { linkRule } from "../rows/atoms.ts";
import { correctAtom, insertAtom } from "./atom-writes.ts";
import {
  digestOfStatement,
  type ImportRecord,
  importedIds,
  type KnownImport,
  knownImports,
  recordImports,
} from "./known-imports.ts";

/** Atom that comes from elsewhere. Times are milliseconds since the epoch. */
export type ImportedAtom = AtomFields & {
  /** Id that the atom had there, by which links of other imported atoms lead to it; null if it had none. */
  readonly formerId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Outcomes for an imported atom. `newer`: the library's atom stays as it is, since it has changed since its export. */
export const OUTCOMES = ["created", "corrected", "unchanged", "newer"] as const;
export type ImportOutcome = (typeof OUTCOMES)[number];

export type Import = {
  /** Ids of the library's atoms, in the order of the import. */
  readonly ids: readonly string[];
  readonly outcomes: readonly ImportOutcome[];
  /** Number of links that led to no atom that is there for the caller. */
  readonly droppedLinks: number;
};

export type ImportTarget = {
  readonly libraryId: string;
  /**
   * Time at which atoms known by their former ids are corrected, in milliseconds since the epoch; null to store each
   * atom as a new one.
   */
  readonly upsertAt: number | null;
  /** False for a key that only writes: of an atom that stays as it is, it learns nothing. */
  readonly mayRead: boolean;
};

/**
 * Stores atoms that come from elsewhere, with their own times. Their links lead to each other by their former ids, or
 * to atoms that are there; other links are dropped.
 *
 * With `upsertAt` an atom that the library knows by its former id is that atom again: it stays as it is while it says
 * the same, and is corrected if that has changed. Links may then lead to atoms of earlier imports too, and a link that
 * led nowhere is set once its target is there.
 *
 * @returns undefined if the library is not there for this caller: some atoms may have been stored by then
 */
export async function importAtoms(
  tx: Tx,
  reach: Reach,
  { libraryId: into, ...how }: ImportTarget,
  atoms: readonly ImportedAtom[],
): Promise<Import | undefined> {
  const libraryId = await openLibrary(tx, reach, into);
  if (libraryId === undefined) return undefined;
  const target = { libraryId, ...how };
  const formerIds = atoms.flatMap(({ formerId }) => formerId ?? []);
  const known = target.upsertAt === null ? NONE : await knownImports(tx, reach, target.libraryId, formerIds);
  const placed: Placed[] = [];
  for (const atom of atoms) {
    const before = atom.formerId === null ? undefined : known.get(atom.formerId);
    const one = before === undefined ? await create(tx, reach, target, atom) : meet(target, before, atom);
    if (one === undefined) return undefined;
    placed.push(one);
  }
  const links = await resolvedLinks(tx, reach, target, placed);
  let droppedLinks = 0;
  const records: ImportRecord[] = [];
  for (const [index, one] of placed.entries()) {
    const { id, outcome, formerId, said, hasOpenLinks } = one;
    if (outcome === "newer" || (outcome === "unchanged" && !hasOpenLinks)) continue;
    const ofAtom = links[index] ?? { wanted: [], kept: [], hasOpen: false };
    droppedLinks += ofAtom.wanted.length - ofAtom.kept.length;
    const revision = await finish(tx, reach, target, one, ofAtom);
    if (formerId === null || (outcome === "unchanged" && ofAtom.hasOpen)) continue;
    records.push({ formerId, id, said, revision, hasOpenLinks: ofAtom.hasOpen });
  }
  if (target.upsertAt !== null) await recordImports(tx, target.libraryId, records);
  return { ids: placed.map(({ id }) => id), outcomes: placed.map(({ outcome }) => outcome), droppedLinks };
}

const NONE: ReadonlyMap<string, KnownImport> = new Map();

/** Atom of the import, with its id and state in the library. */
type Placed = Omit<KnownImport, "updatedAt"> & {
  readonly outcome: ImportOutcome;
  readonly formerId: string | null;
  /** Fields of the atom; its links lead by former ids. */
  readonly fields: AtomFields;
};

async function create(
  tx: Tx,
  reach: Reach,
  { libraryId }: ImportTarget,
  { formerId, createdAt, updatedAt, ...fields }: ImportedAtom,
): Promise<Placed | undefined> {
  const saved = await insertAtom(tx, reach, { ...fields, links: [], libraryId, at: createdAt, updatedAt });
  if (saved === undefined) return undefined;
  const { id, revision } = saved;
  return { id, revision, said: digestOfStatement(fields), hasOpenLinks: false, outcome: "created", formerId, fields };
}

function meet(
  { mayRead }: ImportTarget,
  { updatedAt: changedAt, ...before }: KnownImport,
  { formerId, createdAt: _createdAt, updatedAt, ...fields }: ImportedAtom,
): Placed {
  const said = digestOfStatement(fields);
  const isChangedHere = changedAt !== null && changedAt > updatedAt;
  // Where the atom stays as it is either way, the outcome would say whether a guess is right (threats c125).
  if (said === before.said && (mayRead || !isChangedHere)) return { ...before, outcome: "unchanged", formerId, fields };
  const outcome = isChangedHere ? "newer" : "corrected";
  return { ...before, said, outcome, formerId, fields };
}

type Links = {
  /** Links of the import, by the ids of their targets in the library. */
  readonly wanted: readonly AtomLink[];
  /** Links, of those, that lead to what is there for the caller. */
  readonly kept: readonly AtomLink[];
  /** True if a link leads to an atom that was not imported, which may come yet. */
  readonly hasOpen: boolean;
};

async function resolvedLinks(
  tx: Tx,
  reach: Reach,
  { libraryId, upsertAt }: ImportTarget,
  placed: readonly Placed[],
): Promise<Links[]> {
  const here = new Map(placed.flatMap(({ id, formerId }) => (formerId === null ? [] : [[formerId, id] as const])));
  const led = [...new Set(placed.flatMap(({ fields }) => fields.links.map(({ id }) => id)))];
  const elsewhere = led.filter((id) => !here.has(id));
  const before = upsertAt === null ? here : await importedIds(tx, reach, libraryId, elsewhere);
  const importedAs = (formerId: string) => here.get(formerId) ?? before.get(formerId);
  const wanted = placed.map(({ fields }) => fields.links.map(({ rel, id }) => ({ rel, id: importedAs(id) ?? id })));
  const ruleOf = await linkRule(tx, reach, wanted.flat());
  return placed.map(({ fields }, index) => {
    const ofAtom = wanted[index] ?? [];
    const kept = ofAtom.filter((link) => ruleOf(link) === "allowed");
    return { wanted: ofAtom, kept, hasOpen: fields.links.some(({ id }) => importedAs(id) === undefined) };
  });
}

/**
 * Gives an atom the fields and the links of the import. An atom that is gone by now was forgotten after that.
 *
 * @returns the revision that has them
 */
async function finish(
  tx: Tx,
  reach: Reach,
  { upsertAt }: ImportTarget,
  { id, fields, outcome, revision: before }: Placed,
  links: Links,
): Promise<number> {
  let revision = before;
  const isCorrected = outcome === "corrected" && upsertAt !== null;
  if (isCorrected) {
    const { links: _formerLinks, ...said } = fields;
    const correction = await correctAtom(tx, reach, id, { ...said, expected: null, at: upsertAt });
    if (correction.kind === "corrected") revision = correction.atom.revision;
  }
  if (isCorrected || links.kept.length > 0) await setLinks(tx, id, revision, links);
  return revision;
}

/**
 * Sets the links of an atom within its revision: an import makes one revision, links and all. Of the links that lead
 * beyond the caller's reach, those stay that the atom has. An atom that was corrected meanwhile keeps its own links.
 */
async function setLinks(tx: Tx, id: string, revision: number, { wanted, kept }: Links): Promise<void> {
  const links = sql`(select coalesce(jsonb_agg(link order by place), '[]')
    from jsonb_array_elements(${JSON.stringify(wanted)}::jsonb) with ordinality led (link, place)
    where ${JSON.stringify(kept)}::jsonb || a.links @> jsonb_build_array(link))`;
  await sql`update atoms a set links = ${links}
    where a.id = ${id}::uuid and a.revision = ${revision}::integer and a.links <> ${links}`.execute(tx);
}
