import { ALL_LIBRARIES, libraryName } from "../../../server/libraries/libraries.ts";
import { EXTRACTED } from "../../rules/extraction.ts";
import { listAtoms } from "../../store/lists/atom-list.ts";
import { ATOM_PAGE_BOUNDS } from "../../store/lists/atom-pages.ts";
import { countAtoms } from "../../store/lists/library-summary.ts";
import type { Atom } from "../../store/rows/atom.ts";
import { positionOf, type Sort } from "../../store/rows/atom-order.ts";
import { findReplacements } from "../../store/rows/replaced-atoms.ts";
import {
  ATOMS_OUTPUT,
  atomText,
  cutAtom,
  fittingBriefs,
  type ShownAtom,
  shownAtom,
  shownFacts,
} from "../answer/shown-atom.ts";
import { compact, paragraphs, textWithin, tokensIn } from "../definition/budget.ts";
import {
  defineTool,
  LIBRARY_TO_READ,
  LIST_LIMIT,
  libraryToRead,
  READ_ANNOTATIONS,
  type ToolContext,
} from "../definition/tool.ts";

/** Characters of an atom in a briefing: a longer atom is cut, and can be recalled by its id. */
const BRIEF = 600;
/** Part of a briefing that the library's description takes at most. */
const SHARE_OF_DESCRIPTION = 1 / 4;

type Briefing = {
  readonly note?: string;
  readonly library?: BriefLibrary;
  readonly important?: readonly ShownAtom[];
  readonly recent?: readonly ShownAtom[];
  readonly leftOut?: number;
};

type BriefLibrary = {
  readonly name: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly atoms: number;
  readonly moreAtoms?: boolean;
};

export const memoryWakeUp = defineTool<{ library?: string; limit: number }, Briefing>(
  {
    operation: "mcp.memory_wake_up",
    title: "Wake up",
    description:
      "A short briefing: what the library is for, its most important atoms and the latest. Call it once at the start of a session. Long atoms are truncated: memory_recall reads on by id.",
    annotations: READ_ANNOTATIONS,
    input: {
      library: LIBRARY_TO_READ,
      limit: { ...LIST_LIMIT, description: "How many of each kind at most." },
    },
    output: {
      library: {
        type: "object",
        required: ["name", "atoms"],
        properties: {
          name: { type: "string", description: "* for all libraries." },
          displayName: { type: "string" },
          description: { type: "string" },
          atoms: { type: "integer", description: "How many it holds, counted to 1,000." },
          moreAtoms: { type: "boolean", description: "It holds more than were counted." },
        },
      },
      important: ATOMS_OUTPUT,
      recent: { ...ATOMS_OUTPUT, description: "The latest besides." },
      leftOut: { type: "integer", description: "How many of the counted atoms are not in the briefing." },
    },
    text: briefingText,
  },
  async (context, { library: named, limit, maxTokens }) => {
    const { db, key, reach } = context;
    const library = await libraryToRead(context, named);
    const libraryId = library?.id ?? null;
    const { atoms, isMore: moreAtoms } = await countAtoms(db, reach, libraryId);
    const best = await presentAtoms(context, libraryId, "importance", limit);
    const latest = (await presentAtoms(context, libraryId, "newest", limit)).filter(
      ({ id }) => !best.some((atom) => atom.id === id),
    );
    const { displayName, description } = library ?? { displayName: "all libraries", description: "" };
    const name = library === null ? ALL_LIBRARIES : libraryName(key, library);
    const shown = {
      ...{ name, atoms },
      ...compact({
        displayName: displayName === name ? "" : displayName,
        description: textWithin(description, maxTokens * SHARE_OF_DESCRIPTION),
        moreAtoms,
      }),
    };
    const show = (atom: Atom): ShownAtom => {
      const { library: where, ...facts } = shownFacts(context, atom);
      return cutAtom(shownAtom({ ...facts, ...(library === null && { library: where }) }), BRIEF);
    };
    const empty = { library: shown, important: [], recent: [], leftOut: atoms, note: LEFT_OUT };
    const budget = maxTokens - tokensIn(empty, briefingText(empty));
    const briefs = fittingBriefs(alternate(best, latest).map(show), budget, context.clock.now());
    const chosen = new Map(briefs.map((atom) => [atom.id, atom]));
    const chosenOf = (of: readonly Atom[]) => of.flatMap(({ id }) => chosen.get(id) ?? []);
    const leftOut = Math.max(0, atoms - chosen.size);
    return compact({
      library: shown,
      important: chosenOf(best),
      recent: chosenOf(latest),
      leftOut,
      note: atoms === 0 ? "Nothing is remembered yet." : leftOut === 0 ? "" : LEFT_OUT,
    });
  },
);

const LEFT_OUT = "memory_recall finds what is left out by topic; maxTokens and limit make room for more.";

/** Pages that a briefing reads for atoms that no other atom replaces, and steps of each page for valid atoms. */
const MAX_PAGES = 4;
const MAX_STEPS = 5;

/**
 * Returns the first atoms of a library, or of all, that are valid and that no other atom replaces: written atoms before
 * atoms that a model took out of conversations. Atoms far behind in the order are not read: they are no briefing.
 */
async function presentAtoms(
  { db, reach, clock }: ToolContext,
  libraryId: string | null,
  sort: Sort,
  limit: number,
): Promise<Atom[]> {
  const page = { libraryId, sort, characters: BRIEF + 1, asOf: clock.now() };
  const bounds = { ...ATOM_PAGE_BOUNDS, walked: 4 * limit, steps: MAX_STEPS };
  const written: Atom[] = [];
  const extracted: Atom[] = [];
  let last: Atom | undefined;
  for (let pages = 0; pages < MAX_PAGES && written.length < limit; pages++) {
    const after = last === undefined ? null : positionOf(sort, last);
    // Each time twice as many: if some are replaced, most may be.
    const { items, isMore } = await listAtoms(db, reach, { ...page, after, limit: limit * 2 ** pages }, bounds);
    const ids = items.map(({ id }) => id);
    const replacements = await findReplacements(db, reach, ids);
    for (const atom of items.filter(({ id }) => !replacements.has(id))) {
      (atom.source === EXTRACTED ? extracted : written).push(atom);
    }
    last = items.at(-1);
    if (!isMore) break;
  }
  return [...written, ...extracted].slice(0, limit);
}

/** Alternates the most important and the latest atoms, each in their order. */
function alternate(best: readonly Atom[], latest: readonly Atom[]): Atom[] {
  const longer = Math.max(best.length, latest.length);
  return Array.from({ length: longer }, (_, at) => [best[at] ?? [], latest[at] ?? []].flat()).flat();
}

/** Returns the briefing as text. */
function briefingText({ note, library, important = [], recent = [], leftOut }: Briefing): string {
  return paragraphs(
    library && headOf(library),
    important.length > 0 && "Most important:",
    ...important.map(atomText),
    recent.length > 0 && "Latest besides:",
    ...recent.map(atomText),
    leftOut !== undefined && `Left out: ${leftOut}.`,
    note,
  );
}

function headOf({ name, displayName, description, atoms, moreAtoms }: BriefLibrary): string {
  const title = displayName === undefined ? name : `${name} (${displayName})`;
  return `Library ${title}: ${moreAtoms ? `more than ${atoms}` : atoms} atoms. ${description ?? ""}`.trim();
}
