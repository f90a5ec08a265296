import { estimateTokens } from "../../domain/memory/token-estimate.ts";
import type { Atom } from "../../store/memory/atom.ts";
import { listAtoms } from "../../store/memory/atom-list.ts";
import { countAtoms } from "../../store/memory/library-summary.ts";
import { type AtomJson, atomJson } from "../memory/atom-json.ts";
import { libraryName, reachOf } from "../memory/libraries.ts";
import { ITEM_BYTES } from "../memory/paging.ts";
import { LIBRARY } from "../memory/schemas.ts";
import { ATOMS_OUTPUT, atomsText, atomText, shownBytes } from "./atom-text.ts";
import { defineTool, LIST_LIMIT, libraryOf, READ_ANNOTATIONS } from "./tool.ts";

/** A briefing is short: what is longer is cut, and can be recalled by its id. */
const BRIEF = 600;

export const memoryWakeUp = defineTool<{ library?: string; limit: number; maxTokens: number }>(
  {
    operation: "mcp.memory_wake_up",
    title: "Wake up",
    description:
      "A short briefing from one library: what it is for, its most important atoms and the latest ones, within a budget of tokens, and how much was left out. Call it once at the start of a session, before anything else. Long atoms are cut; memory_recall reads them in full by id.",
    annotations: READ_ANNOTATIONS,
    input: {
      library: LIBRARY,
      limit: { ...LIST_LIMIT, description: "How many of each kind at most, 1 to 100." },
      maxTokens: {
        type: "integer",
        minimum: 100,
        maximum: 50_000,
        default: 2_000,
        description: "How long the text may be, by an estimate: four characters a token, one of Chinese or Japanese.",
      },
    },
    output: {
      library: {
        type: "object",
        required: ["name", "displayName", "description", "atoms", "moreAtoms"],
        properties: {
          name: { type: "string" },
          displayName: { type: "string" },
          description: { type: "string" },
          atoms: { type: "integer", description: "How many it holds, counted to 1,000." },
          moreAtoms: { type: "boolean", description: "It holds more than were counted." },
        },
      },
      important: ATOMS_OUTPUT,
      recent: ATOMS_OUTPUT,
      leftOut: { type: "integer", description: "How many of the counted atoms are not in the briefing." },
    },
  },
  async (context, { library: named, limit, maxTokens }) => {
    const { db, key } = context;
    const library = await libraryOf(context, named);
    const reach = reachOf(key);
    const { atoms, isMore: moreAtoms } = await countAtoms(db, reach, library.id);
    const brief = (atom: Atom): AtomJson => shorten(atomJson(key, atom));
    const page = { libraryId: library.id, after: null, limit, characters: BRIEF + 1 };
    const best = (await listAtoms(db, reach, { ...page, sort: "importance" })).items.map(brief);
    const latest = (await listAtoms(db, reach, page)).items
      .map(brief)
      .filter(({ id }) => !best.some((atom) => atom.id === id));
    const { displayName, description } = library;
    const shown = { name: libraryName(key, library), displayName, description, atoms, moreAtoms };
    const head = headOf(shown);
    const chosen = withinBudget(best, latest, maxTokens - estimateTokens(briefing(head, [], [], atoms)));
    const important = best.filter(({ id }) => chosen.has(id));
    const recent = latest.filter(({ id }) => chosen.has(id));
    const leftOut = Math.max(0, atoms - chosen.size);
    return {
      structured: { library: shown, important, recent, leftOut },
      text: briefing(head, important, recent, leftOut),
    };
  },
);

const bytesOf = shownBytes(atomText);

/** The ids of the atoms that there is room for: the most important and the latest take turns, each in its order. */
function withinBudget(best: readonly AtomJson[], latest: readonly AtomJson[], tokens: number): ReadonlySet<string> {
  const chosen = new Set<string>();
  let left = tokens;
  let bytesLeft = ITEM_BYTES;
  for (let i = 0; i < Math.max(best.length, latest.length); i++) {
    for (const atom of [best[i], latest[i]]) {
      if (atom === undefined) continue;
      const cost = estimateTokens(`\n\n${atomText(atom)}`);
      const bytes = bytesOf(atom);
      if (cost > left || bytes > bytesLeft) return chosen;
      left -= cost;
      bytesLeft -= bytes;
      chosen.add(atom.id);
    }
  }
  return chosen;
}

type Shown = { name: string; displayName: string; description: string; atoms: number; moreAtoms: boolean };

function headOf({ name, displayName, description, atoms, moreAtoms }: Shown): string {
  const title = displayName === "" ? name : `${name} (${displayName})`;
  return `Library ${title}: ${moreAtoms ? `more than ${atoms}` : atoms} atoms. ${description}`.trim();
}

function briefing(head: string, important: readonly AtomJson[], recent: readonly AtomJson[], leftOut: number): string {
  const none = leftOut === 0 ? "Nothing is remembered yet." : "None fits.";
  return [
    head,
    `Most important:\n\n${atomsText(important, none)}`,
    `Latest besides:\n\n${atomsText(recent, "None.")}`,
    ...(leftOut === 0
      ? []
      : [`Left out: ${leftOut}. memory_recall finds them by topic; maxTokens and limit make room for more.`]),
  ].join("\n\n");
}

function shorten(atom: AtomJson): AtomJson {
  return atom.content.length <= BRIEF ? atom : { ...atom, content: `${atom.content.slice(0, BRIEF).toWellFormed()}…` };
}
