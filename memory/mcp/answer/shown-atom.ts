import { defaultLibraryOf } from "../../../domain/access/library-access.ts";
import { defined } from "../../../domain/defined.ts";
import type { LibraryUser } from "../../../server/libraries/library-use.ts";
import { DEFAULT_IMPORTANCE } from "../../request/atom-fields.ts";
import { type AtomJson, readAtomJson } from "../../shown/atom-json.ts";
import { RANKING, RELATIONS, REPLACED_BY } from "../../shown/response-schemas.ts";
import type { Relation } from "../../store/lists/neighbours.ts";
import type { Atom } from "../../store/rows/atom.ts";
import type { Match } from "../../store/search/ranked-atoms.ts";
import { beginning, fitting, longest, tokensIn } from "../definition/budget.ts";

/** An atom, a revision or a hit as a tool shows it: without fields at their default. */
export type ShownAtom = Partial<AtomJson> & {
  /** In place of the content. */
  readonly snippet?: string;
  readonly match?: Match;
  /** The atom that replaces it. */
  readonly replacedBy?: string | undefined;
  /** Of a neighbour: how it is linked to the atom that was asked for. */
  readonly relations?: readonly Relation[];
  /** Not all of it is shown. */
  readonly truncated?: true;
  /** Where the content goes on, in UTF-16 code units. */
  readonly nextOffset?: number;
};

type Fact = Exclude<keyof ShownAtom, "content" | "snippet">;

type FactText<Name extends Fact> = (value: NonNullable<ShownAtom[Name]>) => string;

/** How the text says what is beside an atom's content, what matters most first. */
const FACTS: { readonly [Name in Fact]: FactText<Name> } = {
  id: (id) => `id ${id}`,
  truncated: () => "truncated",
  nextOffset: (offset) => `nextOffset ${offset}`,
  relations: (relations) => relations.map(({ rel, direction }) => `${direction} ${rel}`).join(", "),
  replacedBy: (id) => `replaced by ${id}, which holds now`,
  validTo: (time) => `valid until ${time}`,
  validFrom: (time) => `valid from ${time}`,
  shared: () => "shared by all",
  library: (library) => `library ${library}`,
  revision: (revision) => `revision ${revision}`,
  match: (match) => `match ${match}`,
  tags: (tags) => `tags ${tags.join(", ")}`,
  source: (source) => `source ${source}`,
  importance: (importance) => `importance ${importance}`,
  expiresAt: (time) => `expires ${time}`,
  updated: (time) => `updated ${time}`,
  created: (time) => `created ${time}`,
  links: (links) => links.map(({ rel, id }) => `${rel} ${id}`).join("; "),
  metadata: (metadata) =>
    Object.entries(metadata)
      .map(([name, value]) => `${name}: ${value}`)
      .join("; "),
};
const FACT_NAMES = Object.keys(FACTS) as readonly Fact[];
/** What is shown however little room there is: how to read on, whether the statement is true, and whose it is. */
const NEEDED: readonly Fact[] = ["id", "truncated", "nextOffset", "replacedBy", "validTo", "validFrom", "shared"];
/** The same of a briefing, which may be of several libraries. */
const NEEDED_IN_BRIEFING: readonly Fact[] = [...NEEDED, "library"];

/** Of what a briefing says, its facts are no more than this part. */
const SHARE_OF_FACTS = 1 / 4;

const TEXT = { type: "string" } as const;
/** The schema of what a tool shows of an atom. */
export const ATOM_OUTPUT = {
  type: "object",
  description:
    "Fields at their default are left out: the default library, importance 5, created as updated, nothing in a list.",
  properties: {
    id: TEXT,
    library: TEXT,
    shared: { type: "boolean", description: "By all subjects, so that no call for one changes it." },
    content: TEXT,
    snippet: { type: "string", description: "Passages around what was found, the words between **." },
    tags: { type: "array", items: TEXT },
    source: TEXT,
    importance: { type: "number" },
    metadata: { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } },
    links: {
      type: "array",
      items: {
        type: "object",
        required: ["rel", "id"],
        properties: { rel: TEXT, id: { type: "string", description: "For memory_recall." } },
      },
    },
    expiresAt: { type: "string", description: "From when on it is forgotten." },
    validFrom: { type: "string", description: "From when on it is true." },
    validTo: { type: "string", description: "From when on it is true no longer." },
    created: { type: "string", description: "Where it was corrected since." },
    updated: TEXT,
    revision: { type: "integer" },
    match: { ...RANKING.match, description: `${RANKING.match.description} Left out for words.` },
    replacedBy: { ...REPLACED_BY, type: "string" },
    truncated: { type: "boolean", description: "Not all of it is shown." },
    nextOffset: {
      type: "integer",
      description: "Where its content goes on: pass it as offset to memory_recall, with the id.",
    },
  },
} as const;
export const ATOMS_OUTPUT = { type: "array", items: ATOM_OUTPUT } as const;
export const NEIGHBOURS_OUTPUT = {
  type: "array",
  items: { ...ATOM_OUTPUT, properties: { ...ATOM_OUTPUT.properties, relations: RELATIONS } },
  description: "What it links to, and what links to it, the newest first.",
} as const;

/** An atom that a call has read as its key is shown it: with its library where that is not the default one. */
export function shownFacts(user: LibraryUser, atom: Atom): Omit<AtomJson, "library"> & Pick<ShownAtom, "library"> {
  const { library, ...facts } = readAtomJson(user, atom);
  return atom.library.id === defaultLibraryOf(user.key) ? facts : { ...facts, library };
}

/** An atom without fields at their default. */
export function shownAtom(atom: ShownAtom): ShownAtom {
  const isDefault = ([name, value]: readonly [string, unknown]): boolean =>
    value === null ||
    value === undefined ||
    (typeof value === "object" && Object.keys(value).length === 0) ||
    (name === "importance" && value === DEFAULT_IMPORTANCE) ||
    (name === "match" && value === "words") ||
    (name === "shared" && value === false) ||
    (name === "created" && value === atom.updated);
  return Object.fromEntries(Object.entries(atom).filter((field) => !isDefault(field)));
}

/** An atom for a reader of text: its content, and what is beside it in brackets. */
export function atomText(atom: ShownAtom): string {
  const facts = FACT_NAMES.flatMap((name) => factOf(atom, name) ?? []);
  return [atom.content ?? atom.snippet ?? [], `(${facts.join("; ")})`].flat().join("\n");
}

function factOf<Name extends Fact>(atom: ShownAtom, name: Name): string | undefined {
  const value = atom[name];
  const textOf: FactText<Name> = FACTS[name];
  return value === undefined || value === null ? undefined : textOf(value);
}

/** What an atom takes of an answer. */
export function costOf(atom: ShownAtom): number {
  return tokensIn(atom, atomText(atom));
}

/** The same of what is beside its content. */
function costOfFacts({ content: _content, snippet: _snippet, ...facts }: ShownAtom): number {
  return costOf(facts);
}

/** An atom with those of its facts that there is room for, what matters most first. */
function withFacts(atom: ShownAtom, tokens: number, needed = NEEDED): ShownAtom {
  const { content, snippet, ...facts } = atom;
  const kept: Record<string, unknown> = {};
  let left = tokens;
  for (const name of FACT_NAMES) {
    const text = factOf(facts, name);
    if (text === undefined) continue;
    const isNeeded = needed.includes(name);
    // What is too long already is not encoded as JSON.
    if (!isNeeded && text.length > 4 * left) continue;
    const cost = tokensIn({ [name]: facts[name] }, text);
    if (!isNeeded && cost > left) continue;
    kept[name] = facts[name];
    left -= cost;
  }
  return { ...kept, ...defined({ content, snippet }) };
}

/**
 * An atom as a briefing has it: what is beside its content takes no more than a quarter, but for what is needed. From when
 * on it is true is that only where it is to come.
 */
function briefAtom(atom: ShownAtom, now: number): ShownAtom {
  const body = tokensIn("", atom.content ?? "");
  const isTrueYet = Date.parse(atom.validFrom ?? "") <= now;
  const needed = NEEDED_IN_BRIEFING.filter((name) => name !== "validFrom" || !isTrueYet);
  return withFacts(atom, (body * SHARE_OF_FACTS) / (1 - SHARE_OF_FACTS), needed);
}

/** An atom that is cut behind so many characters; one that is no longer, as it is. */
export function cutAtom(atom: ShownAtom, length: number): ShownAtom {
  const { content = "" } = atom;
  return content.length <= length ? atom : cutTo(atom, beginning(content, length), 0);
}

/**
 * As much of an atom as there is room for.
 *
 * @param offset where in the whole content its content begins
 */
export function shortenAtom(atom: ShownAtom, tokens: number, offset = 0): ShownAtom {
  if (costOf(atom) <= tokens) return atom;
  const kept = withFacts({ ...atom, truncated: true }, tokens * SHARE_OF_FACTS);
  if (costOf(kept) <= tokens) return kept;
  const body = atom.content ?? atom.snippet ?? "";
  const begun = longest(body, 4 * tokens, (text) => costOf(cutTo(kept, text, offset)) <= tokens);
  return cutTo(kept, begun, offset);
}

/** What an atom or a revision says from a place on; what is beside its content was shown with its beginning. */
export function restOf({ id, revision, replacedBy, content = "" }: ShownAtom, offset: number): ShownAtom {
  const facts = { ...(id && { id }), ...(revision && { revision }), ...(replacedBy && { replacedBy }) };
  return { ...facts, content: content.slice(offset).toWellFormed() };
}

/** Where it goes on, memory_recall can say of an atom alone. */
function cutTo(atom: ShownAtom, begun: string, offset: number): ShownAtom {
  if (atom.content === undefined) return { ...atom, snippet: begun, truncated: true };
  const nextOffset = atom.id === undefined ? undefined : offset + begun.length;
  return shownAtom({ ...atom, content: begun, truncated: true, ...(nextOffset && { nextOffset }) });
}

/** The first of these atoms that there is room for, of the first one at least its beginning. */
export function fittingAtoms(atoms: readonly ShownAtom[], tokens: number): ShownAtom[] {
  return fitting(atoms, tokens, { costOf, shorten: shortenAtom });
}

/**
 * The same of a briefing, in which all facts together take no more than a quarter either.
 *
 * @param now milliseconds since the epoch
 */
export function fittingBriefs(atoms: readonly ShownAtom[], tokens: number, now: number): ShownAtom[] {
  const briefs: ShownAtom[] = [];
  let left = tokens;
  let facts = tokens * SHARE_OF_FACTS;
  for (const atom of atoms) {
    const brief = briefAtom(atom, now);
    left -= costOf(brief);
    facts -= costOfFacts(brief);
    if (briefs.length > 0 && (left < 0 || facts < 0)) break;
    briefs.push(facts < 0 ? withFacts(brief, tokens * SHARE_OF_FACTS) : brief);
  }
  return fittingAtoms(briefs, tokens);
}
