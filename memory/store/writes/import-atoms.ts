import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Tx } from "../../../store/database/change.ts";
import { openLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { type AtomFields, type AtomLink, MAX_LINKS } from "../rows/atom.ts";
import { linkRule } from "../rows/atoms.ts";
import { insertAtom, replaceFields } from "./atom-writes.ts";
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
  for (const { formerId, createdAt, updatedAt, ...fields } of atoms) {
    const before = formerId === null ? undefined : known.get(formerId);
    const draft = { ...fields, links: [], libraryId, at: createdAt, updatedAt };
    const one = before ?? (await insertAtom(tx, reach, draft));
    if (one === undefined) return undefined;
    placed.push({ id: one.id, revision: one.revision, before, formerId, fields, updatedAt });
  }
  const links = await resolvedLinks(tx, reach, target, placed);
  let droppedLinks = 0;
  const outcomes: ImportOutcome[] = [];
  const records: ImportRecord[] = [];
  for (const [index, one] of placed.entries()) {
    const { id, formerId, fields, before } = one;
    const ofAtom = links[index] ?? { leading: [], set: [], dropped: 0, hasOpen: false };
    const outcome = outcomeOf(target, one, ofAtom);
    outcomes.push(outcome);
    const isLeft = outcome === "unchanged" && before?.hasOpenLinks !== true;
    if (outcome === "newer" || (isLeft && formerId !== id)) continue;
    droppedLinks += ofAtom.dropped;
    if (isLeft) continue;
    const revision = await finish(tx, reach, target, one, outcome, ofAtom);
    if (formerId === null || (outcome === "unchanged" && ofAtom.hasOpen)) continue;
    records.push({ formerId, id, said: digestOfStatement(fields), revision, hasOpenLinks: ofAtom.hasOpen });
  }
  if (target.upsertAt !== null) await recordImports(tx, target.libraryId, records);
  return { ids: placed.map(({ id }) => id), outcomes, droppedLinks };
}

const NONE: ReadonlyMap<string, KnownImport> = new Map();

/** Atom of the import, with its id and state in the library. */
type Placed = Pick<ImportedAtom, "formerId" | "updatedAt"> & {
  readonly id: string;
  readonly revision: number;
  /** Atom that the library knew by the former id; undefined if it is new. */
  readonly before: KnownImport | undefined;
  /** Fields of the atom; its links lead by former ids. */
  readonly fields: AtomFields;
};

function outcomeOf({ mayRead }: ImportTarget, placed: Placed, { leading }: Links): ImportOutcome {
  const { id, formerId, before, fields, updatedAt } = placed;
  if (before === undefined) return "created";
  // An export has the links that its key reaches: of the library's own atom the others count neither here nor there.
  const same = formerId === id ? [fields, { ...fields, links: leading }] : [fields];
  const isSame = same.some((one) => before.said.includes(digestOfStatement(one)));
  const isChangedHere = before.updatedAt !== null && before.updatedAt > updatedAt;
  // Where the atom stays as it is either way, the outcome would say whether a guess is right (threats c125).
  if (isSame && (mayRead || !isChangedHere)) return "unchanged";
  return isChangedHere ? "newer" : "corrected";
}

type Links = {
  /** Links of the import, as it has them, that lead to what was imported or is there for the caller. */
  readonly leading: readonly AtomLink[];
  /** Links that the atom gets. */
  readonly set: readonly AtomLink[];
  /** Number of links of the import that lead to nothing that is there for the caller. */
  readonly dropped: number;
  /** True if a link leads to an atom that was not imported, which may come yet. */
  readonly hasOpen: boolean;
};

/**
 * Looks up where the links of an import lead. Of links beyond the caller's reach an atom keeps those that it has: one
 * that is known by a record those of the file, and the library's own all of them, as no export shows them to this
 * caller.
 */
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
  const toLibrary = (link: AtomLink) => {
    const id = importedAs(link.id);
    return id === undefined ? link : { rel: link.rel, id };
  };
  const wanted = placed.map(({ fields }) => fields.links.map(toLibrary));
  const own = placed.map(({ id, formerId, before }) => (formerId === id ? (before?.links ?? []) : []));
  const ruleOf = await linkRule(tx, reach, [...wanted.flat(), ...own.flat()]);
  return placed.map(({ fields, before }, index) => {
    const ofFile = wanted[index] ?? [];
    const isAllowed = (link: AtomLink) => ruleOf(link) === "allowed";
    const kept = ofFile.filter((link) => isAllowed(link) || has(before?.links, link));
    const beyond = (own[index] ?? []).filter((link) => ruleOf(link) === "unknown" && !has(ofFile, link));
    return {
      leading: fields.links.filter((link) => importedAs(link.id) !== undefined || isAllowed(link)),
      set: [...kept, ...beyond].slice(0, MAX_LINKS),
      dropped: ofFile.length - ofFile.filter(isAllowed).length,
      hasOpen: fields.links.some(({ id }) => importedAs(id) === undefined),
    };
  });
}

function has(links: readonly AtomLink[] | undefined, { rel, id }: AtomLink): boolean {
  return links?.some((link) => link.rel === rel && link.id === id) ?? false;
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
  { id, fields, revision }: Placed,
  outcome: ImportOutcome,
  { set }: Links,
): Promise<number> {
  if (outcome === "corrected" && upsertAt !== null) {
    const correction = await replaceFields(tx, reach, id, { ...fields, links: set, expected: null, at: upsertAt });
    return correction.kind === "corrected" ? correction.atom.revision : revision;
  }
  if (set.length > 0) await setLinks(tx, id, revision, set);
  return revision;
}

/**
 * Sets the links of an atom within its revision, as those of the same import are known once all are stored. An atom
 * that was corrected since that revision keeps its own links.
 */
async function setLinks(tx: Tx, id: string, revision: number, links: readonly AtomLink[]): Promise<void> {
  const led = sql`${JSON.stringify(links)}::jsonb`;
  await sql`update atoms set links = ${led}
    where id = ${id}::uuid and revision = ${revision}::integer and links <> ${led}`.execute(tx);
}
