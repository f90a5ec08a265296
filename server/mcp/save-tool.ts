import { permits } from "../../domain/access/authorize.ts";
import { type AtomInput, atomFields } from "../memory/atom-fields.ts";
import { atomJson } from "../memory/atom-json.ts";
import { libraryName, noSuchLibrary, reachOf } from "../memory/libraries.ts";
import { type FoundDuplicate, findDuplicateAtoms, insertion, MAX_BATCH } from "../memory/save-atoms.ts";
import { ATOM_INPUT, atomListSchema } from "../memory/schemas.ts";
import { compact, fitting, paragraphs, tokensIn } from "./budget.ts";
import {
  ATOM_OUTPUT,
  ATOMS_OUTPUT,
  atomText,
  fittingAtoms,
  type ShownAtom,
  shortenAtom,
  shownAtom,
} from "./shown-atom.ts";
import { defineTool, LIBRARY_NAME, libraryOf, ToolFault, TRUNCATED, WRITE_ANNOTATIONS } from "./tool.ts";

type SaveArgs = Partial<AtomInput> & {
  atoms?: AtomInput[];
  library?: string;
  allowDuplicate: boolean;
};

/** What was saved, without the contents, which the caller has; or what says it already. */
type Saved = {
  readonly note?: string;
  readonly atom?: ShownAtom | undefined;
  readonly atoms?: readonly ShownAtom[];
  readonly nearDuplicates?: readonly ShownDuplicate[];
  readonly truncated?: boolean;
};

type ShownDuplicate = Omit<FoundDuplicate, "atom"> & { readonly atom: ShownAtom };

const NEAR_DUPLICATES_OUTPUT = {
  type: "array",
  items: {
    type: "object",
    required: ["index", "similarity", "atom"],
    properties: {
      index: { type: "integer", description: "Which of the atoms that were sent, counted from 0." },
      similarity: { type: "number", description: "1 for the same statement." },
      atom: ATOM_OUTPUT,
    },
  },
  description: "What says it already: then nothing was saved.",
} as const;

export const memorySaveAtom = defineTool<SaveArgs, Saved>(
  {
    operation: "mcp.memory_save_atom",
    title: "Save an atom",
    description: `Remembers a new statement, or up to ${MAX_BATCH} at once in "atoms". Use it when you learn what later sessions need: a decision, a preference, a fact that took effort to find. One statement each, understandable by itself. Where the library says almost the same already, nothing is saved and you are shown that atom: correct it, or repeat the call with allowDuplicate.`,
    annotations: WRITE_ANNOTATIONS,
    input: {
      ...ATOM_INPUT,
      atoms: {
        ...atomListSchema(MAX_BATCH),
        description: "Several instead of one: all are saved, or none.",
      },
      library: LIBRARY_NAME,
      allowDuplicate: { type: "boolean", default: false, description: "Save it nevertheless." },
    },
    output: {
      atom: { ...ATOM_OUTPUT, description: "What was saved of a call for one, without its content." },
      atoms: { ...ATOMS_OUTPUT, description: "What was saved of a call for several, in their order." },
      nearDuplicates: NEAR_DUPLICATES_OUTPUT,
      truncated: TRUNCATED,
    },
    text: savedText,
  },
  async (context, { atoms: many, library: named, allowDuplicate, maxTokens, ...one }) => {
    const { clock, db, key, write } = context;
    const inputs = inputsOf(many, one).map((input) => atomFields(input, clock.now()));
    const library = await libraryOf(context, named);
    // A key that only writes learns nothing of what is there.
    const policy = allowDuplicate || !permits(key, "mcp.memory_search") ? "allow" : "refuse";
    const contents = inputs.map(({ content }) => content);
    const near = await findDuplicateAtoms(db, reachOf(key), { libraryId: library.id, contents, policy });
    if (near.length > 0) {
      const duplicates = near.map(({ atom, ...found }) => ({ ...found, atom: shownAtom(atomJson(key, atom)) }));
      return within(maxTokens, { note: REFUSED }, OTHERS, (tokens) => {
        const nearDuplicates = fitting(duplicates, tokens, { costOf, shorten });
        return { nearDuplicates, isCut: nearDuplicates.length < near.length || nearDuplicates[0] !== duplicates[0] };
      });
    }
    const stored = await write("mcp.memory_save_atom", insertion(inputs, library.id, clock.now()));
    if (stored === undefined) throw new ToolFault(await noSuchLibrary(db, key, named ?? library.name));
    const [first] = stored;
    if (many === undefined && first !== undefined) {
      const { content: _content, ...facts } = atomJson(key, first);
      return within(maxTokens, { note: "Saved." }, CUT, (tokens) => {
        const atom = shortenAtom(shownAtom(facts), tokens);
        return { atom, isCut: atom.truncated === true };
      });
    }
    const ids = stored.map(({ id }) => ({ id }));
    return within(maxTokens, { note: `Saved ${ids.length} atoms in ${libraryName(key, library)}.` }, CUT, (tokens) => {
      const atoms = fittingAtoms(ids, tokens);
      return { atoms, isCut: atoms.length < ids.length };
    });
  },
);

/** The answer with as much as there is room for, and with what is said where that is not all. */
function within(
  maxTokens: number,
  { note }: { readonly note: string },
  noteOfCut: string,
  fill: (tokens: number) => Omit<Saved, "note" | "truncated"> & { readonly isCut: boolean },
): Saved {
  const most = { note: `${note} ${noteOfCut}`, nearDuplicates: [], truncated: true };
  const { isCut, ...shown } = fill(maxTokens - tokensIn(most, savedText(most)));
  return compact({ note: isCut ? most.note : note, ...shown, truncated: isCut });
}

/** The same for a reader of text. */
function savedText({ note, atom, atoms = [], nearDuplicates = [] }: Saved): string {
  return paragraphs(note, atom && atomText(atom), ...atoms.map(atomText), ...nearDuplicates.map(duplicateText));
}

const REFUSED =
  "Nothing was saved: the library says almost the same already. If that is wrong or outdated, correct it with memory_correct_atom and its id; if it says it, there is nothing to do; if yours is another fact, call memory_save_atom again with allowDuplicate true.";
const OTHERS = "There may be others: this answer has no room for them.";
const CUT = "This is cut to maxTokens.";

function inputsOf(many: AtomInput[] | undefined, { content, ...more }: Partial<AtomInput>): AtomInput[] {
  if (many === undefined) {
    if (content !== undefined) return [{ content, ...more }];
    throw new ToolFault('The input of memory_save_atom lacks "content", the statement, or "atoms", several of them.');
  }
  const [field] = Object.keys({ ...(content === undefined ? {} : { content }), ...more });
  if (field === undefined) return many;
  throw new ToolFault(
    `memory_save_atom takes "${field}" within each of "atoms" where there are several, not beside it.`,
  );
}

function duplicateText({ index, similarity, atom }: ShownDuplicate): string {
  return `To atom ${index}, similarity ${similarity}:\n${atomText(atom)}`;
}

function costOf(duplicate: ShownDuplicate): number {
  return tokensIn(duplicate, duplicateText(duplicate));
}

function shorten(duplicate: ShownDuplicate, tokens: number): ShownDuplicate {
  const around = costOf({ ...duplicate, atom: {} });
  return { ...duplicate, atom: shortenAtom(duplicate.atom, tokens - around) };
}
