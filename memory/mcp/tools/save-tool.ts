import { permits } from "../../../domain/access/authorize.ts";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { libraryName, noSuchLibrary } from "../../../server/libraries/libraries.ts";
import { type AtomInput, fieldsOfAll } from "../../request/atom-fields.ts";
import { ATOM_INPUT, atomListSchema } from "../../request/schemas.ts";
import { atomJson } from "../../shown/atom-json.ts";
import { MAX_SHOWN } from "../../store/writes/near-duplicates.ts";
import { type FoundDuplicate, findDuplicateAtoms, MAX_BATCH, refusing } from "../../writes/save-atoms.ts";
import { repeatableAtoms } from "../../writes/save-repeated.ts";
import {
  ATOM_OUTPUT,
  ATOMS_OUTPUT,
  atomText,
  fittingAtoms,
  type ShownAtom,
  shortenAtom,
  shownAtom,
} from "../answer/shown-atom.ts";
import { compact, fitting, paragraphs, sentences, tokensIn } from "../definition/budget.ts";
import { defineTool, LIBRARY_NAME, libraryOf, ToolFault, TRUNCATED } from "../definition/tool.ts";

type SaveArgs = Partial<AtomInput> & {
  atoms?: AtomInput[];
  library?: string;
  allowDuplicate: boolean;
};

/** Answer of memory_save_atom: what was saved, without the contents, which the caller has; or what says it already. */
type Saved = {
  readonly note?: string;
  readonly atom?: ShownAtom | undefined;
  readonly atoms?: readonly ShownAtom[];
  readonly nearDuplicates?: readonly ShownDuplicate[];
  readonly truncated?: boolean;
};

type ShownDuplicate = Pick<FoundDuplicate, "index" | "similarity"> & {
  readonly otherNumbers?: true;
  readonly atom: ShownAtom;
};

const NEAR_DUPLICATES_OUTPUT = {
  type: "array",
  items: {
    type: "object",
    required: ["index", "similarity", "atom"],
    properties: {
      index: { type: "integer", description: "Which of the atoms that were sent, counted from 0." },
      similarity: { type: "number", description: "1 for the same statement." },
      otherNumbers: {
        type: "boolean",
        description: "It differs in a number, a sign or a negation, and refuses nothing.",
      },
      atom: ATOM_OUTPUT,
    },
  },
  description: "What says it already: then nothing was saved, unless all of these have otherNumbers.",
} as const;

/** Annotations of a tool that saves: the same call again saves nothing more. */
const SAVES = { readOnlyHint: false, destructiveHint: false, idempotentHint: true } as const;

export const memorySaveAtom = defineTool<SaveArgs, Saved>(
  {
    operation: "mcp.memory_save_atom",
    title: "Save an atom",
    description: `Remembers a new statement, or up to ${MAX_BATCH} at once in "atoms". Use it when you learn what later sessions need: a decision, a preference, a fact that took effort to find. One statement each, understandable by itself. Where the library says almost the same already, nothing is saved and you are shown that atom: correct it, or repeat the call with allowDuplicate. A call without an answer can be repeated as it is: nothing is saved twice.`,
    annotations: SAVES,
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
    const { clock, db, key, reach, recordCapacity, write } = context;
    const inputs = fieldsOfAll(inputsOf(many, one), clock.now());
    const library = await libraryOf(context, named);
    // A key that only writes learns nothing of what is there.
    const mayRead = permits(key, "mcp.memory_search");
    const policy = allowDuplicate || !mayRead ? "allow" : "refuse";
    const once = repeatableAtoms(key, reach, { libraryId: library.id, atoms: inputs, at: clock.now(), recordCapacity });
    const near = await findDuplicateAtoms(db, reach, {
      ...{ libraryId: library.id, atoms: inputs, policy },
      isRepeated: (index, near) => once.isRepeated(db, index, near),
    });
    if (allowDuplicate && mayRead) for (const index of inputs.keys()) await once.isRepeated(db, index);
    const shownOf = (found: readonly FoundDuplicate[]) => found.map((duplicate) => shownDuplicate(key, duplicate));
    if (refusing(near).length > 0) {
      const duplicates = shownOf(near);
      return within(maxTokens, { note: refusedNote(refusing(near)) }, OTHERS, (tokens) => {
        const nearDuplicates = fitting(duplicates, tokens, { costOf, shorten });
        return { nearDuplicates, isCut: nearDuplicates.length < near.length || nearDuplicates[0] !== duplicates[0] };
      });
    }
    const saved = await write("mcp.memory_save_atom", once.insertion);
    if (saved === undefined) throw new ToolFault(await noSuchLibrary(db, key, named ?? library.name));
    const others = shownOf(near.slice(0, MAX_SHOWN));
    const noteOf = (note: string) => ({ note: sentences(note, others.length > 0 && otherNumbersNote(others)) });
    const [first] = saved.atoms;
    if (many === undefined && first !== undefined) {
      const { content: _content, ...facts } = atomJson(key, first);
      return within(maxTokens, noteOf(saved.made > 0 ? "Saved." : SAVED_BEFORE), CUT, (tokens) => {
        const beside = besideSaved(others, tokens);
        const atom = shortenAtom(shownAtom(facts), tokens - beside.cost);
        return { atom, ...beside.shown, isCut: atom.truncated === true || beside.isCut };
      });
    }
    const ids = saved.atoms.map(({ id }) => ({ id }));
    return within(maxTokens, noteOf(noteOfMany(ids.length, saved.made, libraryName(key, library))), CUT, (tokens) => {
      const beside = besideSaved(others, tokens);
      const atoms = fittingAtoms(ids, tokens - beside.cost);
      return { atoms, ...beside.shown, isCut: atoms.length < ids.length || beside.isCut };
    });
  },
);

function shownDuplicate(key: KeyRecord, { atom, index, similarity, otherNumbers }: FoundDuplicate): ShownDuplicate {
  return { index, similarity, ...(otherNumbers && { otherNumbers }), atom: shownAtom(atomJson(key, atom)) };
}

/** Returns the near-duplicates that are shown beside what was saved, in half of the answer at most. */
function besideSaved(others: readonly ShownDuplicate[], tokens: number) {
  const nearDuplicates = fitting(others, tokens / 2, { costOf, shorten });
  return {
    shown: { nearDuplicates },
    cost: nearDuplicates.reduce((sum, duplicate) => sum + costOf(duplicate), 0),
    isCut: nearDuplicates.length < others.length || nearDuplicates[0] !== others[0],
  };
}

/** Returns the answer with as much as fits, and with the note on a cut if that is not all. */
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

/** Returns the answer as text. */
function savedText({ note, atom, atoms = [], nearDuplicates = [] }: Saved): string {
  return paragraphs(note, atom && atomText(atom), ...atoms.map(atomText), ...nearDuplicates.map(duplicateText));
}

const REFUSED =
  "Nothing was saved: the library says almost the same already. If that is wrong or outdated, correct it with memory_correct_atom and its id; if it says it, there is nothing to do; if yours is another fact, call memory_save_atom again with allowDuplicate true.";
const REFUSED_SHARED =
  "Nothing was saved: what all subjects share says almost the same already, and no call for one subject corrects it. If it says it, there is nothing to do; if something else applies to this one, call memory_save_atom again with allowDuplicate true.";
const SOME_SHARED = "What is shared by all subjects no call for one subject corrects: save what applies to this one.";
const SAVED_BEFORE = "Saved before, by the same call: this is that atom, and nothing was written again.";
const OTHER_NUMBERS =
  'The library has almost the same with another number, sign or negation: if that is outdated, add a link with rel "replaces" to what you have saved, or correct the old one.';
const OTHER_NUMBERS_SHARED =
  "What all subjects share has almost the same with another number, sign or negation: it stays as it is, and what you have saved applies to this subject alone.";
const OTHERS = "There may be others: this answer has no room for them.";
const CUT = "This is cut to maxTokens.";

/** Returns the note on a refused save: a call for a subject can correct the subject's own atoms, and no shared atom. */
function refusedNote(near: readonly FoundDuplicate[]): string {
  const shared = near.filter(({ atom }) => atom.isShared);
  if (shared.length === near.length) return REFUSED_SHARED;
  return sentences(REFUSED, shared.length > 0 && SOME_SHARED);
}

function otherNumbersNote(others: readonly ShownDuplicate[]): string {
  const shared = others.filter(({ atom }) => atom.shared);
  if (shared.length === others.length) return OTHER_NUMBERS_SHARED;
  return sentences(OTHER_NUMBERS, shared.length > 0 && SOME_SHARED);
}

function noteOfMany(sent: number, made: number, library: string): string {
  if (made === sent) return `Saved ${sent} atoms in ${library}.`;
  if (made === 0) return `Saved before in ${library}: these are the ${sent} atoms, and nothing was written again.`;
  return `Saved ${made} of ${sent} atoms in ${library}: the others were saved there before, and not written again.`;
}

function inputsOf(many: AtomInput[] | undefined, { content, ...more }: Partial<AtomInput>): AtomInput[] {
  if (many === undefined) {
    if (content !== undefined) return [{ content, ...more }];
    throw new ToolFault('The input of memory_save_atom lacks "content", the statement, or "atoms", several of them.');
  }
  const given = { ...(content === undefined ? {} : { content }), ...more };
  // Null is what a new atom has anyway.
  const [field] = Object.entries(given).flatMap(([name, value]) => (value === null ? [] : name));
  if (field === undefined) return many;
  throw new ToolFault(
    `memory_save_atom takes "${field}" within each of "atoms" where there are several, not beside it.`,
  );
}

function duplicateText({ index, similarity, otherNumbers, atom }: ShownDuplicate): string {
  const facts = [`similarity ${similarity}`, ...(otherNumbers ? ["another number, sign or negation"] : [])];
  return `To atom ${index}, ${facts.join(", ")}:\n${atomText(atom)}`;
}

function costOf(duplicate: ShownDuplicate): number {
  return tokensIn(duplicate, duplicateText(duplicate));
}

function shorten(duplicate: ShownDuplicate, tokens: number): ShownDuplicate {
  const around = costOf({ ...duplicate, atom: {} });
  return { ...duplicate, atom: shortenAtom(duplicate.atom, tokens - around) };
}
