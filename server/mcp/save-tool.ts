import { permits } from "../../domain/access/authorize.ts";
import { type AtomInput, atomFields } from "../memory/atom-fields.ts";
import { atomJson } from "../memory/atom-json.ts";
import { noSuchLibrary, reachOf } from "../memory/libraries.ts";
import { fittingItems } from "../memory/paging.ts";
import { type FoundDuplicate, findDuplicateAtoms, insertion, MAX_BATCH } from "../memory/save-atoms.ts";
import { ATOM_INPUT, atomListSchema, LIBRARY } from "../memory/schemas.ts";
import { ATOM_OUTPUT, ATOMS_OUTPUT, atomsText, atomText, shownBytes } from "./atom-text.ts";
import { defineTool, libraryOf, ToolFault, WRITE_ANNOTATIONS } from "./tool.ts";

type SaveArgs = Partial<AtomInput> & { atoms?: AtomInput[]; library?: string; allowDuplicate: boolean };

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

export const memorySaveAtom = defineTool<SaveArgs>(
  {
    operation: "mcp.memory_save_atom",
    title: "Save an atom",
    description: `Remembers a new statement, or up to ${MAX_BATCH} at once in "atoms". Use it when you learn something that later sessions need: a decision, a preference, a fact that took effort to find. One statement each, understandable by itself. Where the library says almost the same already, nothing is saved and you are shown that atom: correct it with memory_correct_atom, or repeat the call with allowDuplicate if yours is another fact.`,
    annotations: WRITE_ANNOTATIONS,
    input: {
      ...ATOM_INPUT,
      atoms: {
        ...atomListSchema(MAX_BATCH),
        description: "Several atoms instead of one: all of them are saved, or none.",
      },
      library: LIBRARY,
      allowDuplicate: { type: "boolean", default: false, description: "Save what is remembered almost so already." },
    },
    output: {
      atom: { ...ATOM_OUTPUT, type: ["object", "null"], description: "What was saved of a call for one." },
      atoms: { ...ATOMS_OUTPUT, description: "All that was saved." },
      nearDuplicates: NEAR_DUPLICATES_OUTPUT,
    },
  },
  async (context, { atoms: many, library: named, allowDuplicate, ...one }) => {
    const { clock, db, key, write } = context;
    const atoms = inputsOf(many, one).map((input) => atomFields(input, clock.now()));
    const library = await libraryOf(context, named);
    // A key that only writes learns nothing of what is there.
    const policy = allowDuplicate || !permits(key, "mcp.memory_search") ? "allow" : "refuse";
    const contents = atoms.map(({ content }) => content);
    const near = await findDuplicateAtoms(db, reachOf(key), { libraryId: library.id, contents, policy });
    if (near.length > 0) {
      const show = ({ atom, ...found }: FoundDuplicate) => ({ ...found, atom: atomJson(key, atom) });
      const nearDuplicates = fittingItems(near, show, shownBytes(duplicateText));
      const others = nearDuplicates.length < near.length ? OTHERS : "";
      return { structured: { atom: null, atoms: [], nearDuplicates }, text: refusal(nearDuplicates) + others };
    }
    const stored = await write("mcp.memory_save_atom", insertion(atoms, library.id, clock.now()));
    if (stored === undefined) throw new ToolFault(await noSuchLibrary(db, key, named ?? library.name));
    const saved = stored.map((atom) => atomJson(key, atom));
    const [first] = saved;
    return many === undefined && first !== undefined
      ? { structured: { atom: first, atoms: saved, nearDuplicates: [] }, text: `Saved: ${atomText(first)}` }
      : {
          structured: { atom: null, atoms: saved, nearDuplicates: [] },
          text: `Saved ${saved.length} atoms:\n\n${atomsText(saved, "")}`,
        };
  },
);

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

type ShownDuplicate = Omit<FoundDuplicate, "atom"> & { readonly atom: ReturnType<typeof atomJson> };

const OTHERS = "\n\nThere may be others: this answer has no room for them.";

function duplicateText({ index, similarity, atom }: ShownDuplicate): string {
  return `To atom ${index}, similarity ${similarity}:\n${atomText(atom)}`;
}

function refusal(near: readonly ShownDuplicate[]): string {
  return `Nothing was saved: the library says almost the same already. If that is wrong or outdated, correct it with memory_correct_atom and its id; if it says it, there is nothing to do; if yours is another fact, call memory_save_atom again with allowDuplicate true.\n\n${near.map(duplicateText).join("\n\n")}`;
}
