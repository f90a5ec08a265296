import type { Atom } from "../../store/memory/atom.ts";
import { listAtoms } from "../../store/memory/atom-list.ts";
import { countAtoms } from "../../store/memory/library-summary.ts";
import { atomJson } from "../memory/atom-json.ts";
import { libraryName, reachOf } from "../memory/libraries.ts";
import { compact, paragraphs, textWithin, tokensIn } from "./budget.ts";
import { ATOMS_OUTPUT, atomText, cutAtom, fittingBriefs, type ShownAtom, shownAtom } from "./shown-atom.ts";
import { defineTool, LIBRARY_NAME, LIST_LIMIT, libraryOf, READ_ANNOTATIONS } from "./tool.ts";

/** A briefing is short: what is longer is cut, and can be recalled by its id. */
const BRIEF = 600;
/** The description of the library is no longer than this part of a briefing. */
const SHARE_OF_DESCRIPTION = 1 / 4;

type Briefing = {
  readonly note?: string;
  readonly library?: Shown;
  readonly important?: readonly ShownAtom[];
  readonly recent?: readonly ShownAtom[];
  readonly leftOut?: number;
};

type Shown = {
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
      "A short briefing from one library: what it is for, its most important atoms and the latest. Call it once at the start of a session, before anything else. Long atoms are truncated: memory_recall reads on by id.",
    annotations: READ_ANNOTATIONS,
    input: {
      library: LIBRARY_NAME,
      limit: { ...LIST_LIMIT, description: "How many of each kind at most." },
    },
    output: {
      library: {
        type: "object",
        required: ["name", "atoms"],
        properties: {
          name: { type: "string" },
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
    const { db, key } = context;
    const library = await libraryOf(context, named);
    const reach = reachOf(key);
    const { atoms, isMore: moreAtoms } = await countAtoms(db, reach, library.id);
    const page = { libraryId: library.id, after: null, limit, characters: BRIEF + 1 };
    const best = (await listAtoms(db, reach, { ...page, sort: "importance" })).items;
    const latest = (await listAtoms(db, reach, page)).items.filter(({ id }) => !best.some((atom) => atom.id === id));
    const { displayName, description } = library;
    const name = libraryName(key, library);
    const shown = {
      ...{ name, atoms },
      ...compact({
        displayName: displayName === name ? "" : displayName,
        description: textWithin(description, maxTokens * SHARE_OF_DESCRIPTION),
        moreAtoms,
      }),
    };
    const show = (atom: Atom): ShownAtom => {
      const { library: _library, ...rest } = atomJson(key, atom);
      return cutAtom(shownAtom(rest), BRIEF);
    };
    const empty = { library: shown, important: [], recent: [], leftOut: atoms, note: LEFT_OUT };
    const room = maxTokens - tokensIn(empty, briefingText(empty));
    const chosen = new Map(fittingBriefs(inTurns(best, latest).map(show), room).map((atom) => [atom.id, atom]));
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

/** The most important and the latest take turns, each in its order. */
function inTurns(best: readonly Atom[], latest: readonly Atom[]): Atom[] {
  const longer = Math.max(best.length, latest.length);
  return Array.from({ length: longer }, (_, at) => [best[at] ?? [], latest[at] ?? []].flat()).flat();
}

/** The same for a reader of text. */
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

function headOf({ name, displayName, description, atoms, moreAtoms }: Shown): string {
  const title = displayName === undefined ? name : `${name} (${displayName})`;
  return `Library ${title}: ${moreAtoms ? `more than ${atoms}` : atoms} atoms. ${description ?? ""}`.trim();
}
