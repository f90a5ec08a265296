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

/** Atom, revision or hit as a tool shows it: without fields at their default. */
export type ShownAtom = Partial<AtomJson> & {
  /** Passages, in place of the content. */
  readonly snippet?: string;
  readonly match?: Match;
  /** Id of the atom that replaces it. */
  readonly replacedBy?: string | undefined;
  /** Links between a neighbour and the atom that was asked for. */
  readonly relations?: readonly Relation[];
  /** True if not all of it is shown. */
  readonly truncated?: true;
  /** Position at which the content goes on, in UTF-16 code units. */
  readonly nextOffset?: number;
};

type Fact = Exclude<keyof ShownAtom, "content" | "snippet">;

type FactText<Name extends Fact> = (value: NonNullable<ShownAtom[Name]>) => string;

/** Texts of the facts beside an atom's content, the most important first. */
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
/** Facts that are shown however little space there is: how to read on, whether it is true, and whose it is. */
const NEEDED: readonly Fact[] = ["id", "truncated", "nextOffset", "replacedBy", "validTo", "validFrom", "shared"];
/** Facts that a briefing shows however little space there is: it may be of several libraries. */
const NEEDED_IN_BRIEFING: readonly Fact[] = [...NEEDED, "library"];

/** Maximum number of characters that are one token. */
const CHARACTERS_OF_TOKEN = 4;

/** Part of a briefing that its facts take at most. */
const SHARE_OF_FACTS = 1 / 4;

const TEXT = { type: "string" } as const;
/** JSON Schema of an atom as a tool shows it. */
export const ATOM_OUTPUT = {
  type: "object",
  description:
    "Fields at their default are left out: the default library, importance 5, created as updated, nothing in a list.",
  properties: {
    id: TEXT,
    library: TEXT,
    shared: { type: "boolean", description: "By all subjects, so that no call for one changes it." },
    content: TEXT,
    snippet: { type: "string", description: "Passages around what was found." },
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

/** Returns the fields of an atom as the key of a call is shown them, with the library if it is not the default. */
export function shownFacts(user: LibraryUser, atom: Atom): Omit<AtomJson, "library"> & Pick<ShownAtom, "library"> {
  const { library, ...facts } = readAtomJson(user, atom);
  return atom.library.id === defaultLibraryOf(user.key) ? facts : { ...facts, library };
}

/** Returns an atom without fields at their default. */
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

/** Returns an atom as text: its content, and its facts in brackets. */
export function atomText(atom: ShownAtom): string {
  const facts = FACT_NAMES.flatMap((name) => factOf(atom, name) ?? []);
  return [atom.content ?? atom.snippet ?? [], `(${facts.join("; ")})`].flat().join("\n");
}

function factOf<Name extends Fact>(atom: ShownAtom, name: Name): string | undefined {
  const value = atom[name];
  const textOf: FactText<Name> = FACTS[name];
  return value === undefined || value === null ? undefined : textOf(value);
}

/** Returns the tokens that an atom takes of an answer. */
export function costOf(atom: ShownAtom): number {
  return tokensIn(atom, atomText(atom));
}

/** Returns the tokens that an atom takes, or infinity if they are certainly more than `most`: what is long is not encoded. */
function costUpTo(most: number, atom: ShownAtom): number {
  const body = atom.content ?? atom.snippet ?? "";
  return body.length > CHARACTERS_OF_TOKEN * most ? Number.POSITIVE_INFINITY : costOf(atom);
}

/** Returns the tokens that an atom's facts take, without its content. */
function costOfFacts({ content: _content, snippet: _snippet, ...facts }: ShownAtom): number {
  return costOf(facts);
}

/** Returns an atom with as many of its facts as fit, the most important first, and with all that are needed. */
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
 * Returns an atom for a briefing: its facts take no more than a quarter, but for the needed ones. `validFrom` is needed
 * only if it is still to come.
 */
function briefAtom(atom: ShownAtom, now: number): ShownAtom {
  const body = tokensIn("", atom.content ?? "");
  const isTrueYet = Date.parse(atom.validFrom ?? "") <= now;
  const needed = NEEDED_IN_BRIEFING.filter((name) => name !== "validFrom" || !isTrueYet);
  return withFacts(atom, (body * SHARE_OF_FACTS) / (1 - SHARE_OF_FACTS), needed);
}

/** Cuts an atom behind a number of characters; a shorter atom stays as it is. */
export function cutAtom(atom: ShownAtom, length: number): ShownAtom {
  const { content = "" } = atom;
  return content.length <= length ? atom : cutTo(atom, beginning(content, length), 0);
}

/**
 * Shortens an atom to a number of tokens.
 *
 * @param offset position in the whole content at which the atom's content begins
 */
export function shortenAtom(atom: ShownAtom, tokens: number, offset = 0): ShownAtom {
  if (costUpTo(tokens, atom) <= tokens) return atom;
  const kept = withFacts({ ...atom, truncated: true }, tokens * SHARE_OF_FACTS);
  if (costUpTo(tokens, kept) <= tokens) return kept;
  const body = atom.content ?? atom.snippet ?? "";
  const begun = longest(body, CHARACTERS_OF_TOKEN * tokens, (text) => costOf(cutTo(kept, text, offset)) <= tokens);
  return cutTo(kept, begun, offset);
}

/** Returns an atom or a revision from a position of its content on; other facts were shown with the beginning. */
export function restOf({ id, revision, replacedBy, content = "" }: ShownAtom, offset: number): ShownAtom {
  const facts = { ...(id && { id }), ...(revision && { revision }), ...(replacedBy && { replacedBy }) };
  return { ...facts, content: content.slice(offset).toWellFormed() };
}

/** Returns an atom with the beginning of its content, and the offset to read on at. A revision cannot be read on. */
function cutTo(atom: ShownAtom, begun: string, offset: number): ShownAtom {
  if (atom.content === undefined) return { ...atom, snippet: begun, truncated: true };
  const nextOffset = atom.id === undefined ? undefined : offset + begun.length;
  return shownAtom({ ...atom, content: begun, truncated: true, ...(nextOffset && { nextOffset }) });
}

/** Returns the first of these atoms that fit, of the first at least the beginning. */
export function fittingAtoms(atoms: readonly ShownAtom[], tokens: number): ShownAtom[] {
  return fitting(atoms, tokens, { costOf: (atom) => costUpTo(tokens, atom), shorten: shortenAtom });
}

/**
 * Returns the first atoms of a briefing that fit; all their facts together take no more than a quarter.
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
