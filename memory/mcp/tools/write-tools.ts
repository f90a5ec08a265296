import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import { SHARED_ATOM } from "../../call/problems.ts";
import { type AtomChanges, atomChanges, NOTHING_CHANGED } from "../../request/atom-fields.ts";
import { ATOM_ID, ATOM_INPUT, REVISION } from "../../request/schemas.ts";
import { correctedJson } from "../../shown/atom-json.ts";
import { correctAtom, type Deletion, deleteAtom } from "../../store/writes/atom-writes.ts";
import { DAYS_KEPT, type Forgetting, forgetAtom } from "../../store/writes/forgotten-atoms.ts";
import { correctedLibrary, deletedLibrary } from "../../writes/write-as.ts";
import { ATOM_OUTPUT, atomText, type ShownAtom, shortenAtom, shownAtom } from "../answer/shown-atom.ts";
import { compact, paragraphs, tokensIn } from "../definition/budget.ts";
import { defineTool, NO_ATOM_HINT, ToolFault, WRITE_ANNOTATIONS } from "../definition/tool.ts";

/** Annotations of a tool that deletes: only a person can restore an atom, and a second call does nothing more. */
const DELETES = { readOnlyHint: false, destructiveHint: true, idempotentHint: true } as const;

type CorrectArgs = AtomChanges & { id: string; revision?: number };
type Corrected = { readonly note?: string; readonly atom?: ShownAtom };

export const memoryCorrectAtom = defineTool<CorrectArgs, Corrected>(
  {
    operation: "mcp.memory_correct_atom",
    title: "Correct an atom",
    description:
      "Changes an atom that is wrong, outdated or incomplete. Fields that are left out stay, and the earlier revision is kept. Use it instead of saving another beside it.",
    annotations: WRITE_ANNOTATIONS,
    input: {
      id: ATOM_ID,
      revision: { ...REVISION, description: "The one that you have read." },
      ...ATOM_INPUT,
    },
    requires: ["id"],
    output: {
      atom: {
        ...ATOM_OUTPUT,
        description: "The whole atom, where you may read it; else its id, updated, revision and what you have sent.",
      },
    },
    text: correctedText,
  },
  async ({ clock, key, write }, { id, revision, maxTokens, ...input }) => {
    const changes = atomChanges(input, clock.now());
    if (Object.keys(changes).length === 0) throw new ToolFault(NOTHING_CHANGED);
    const correction = await write("mcp.memory_correct_atom", {
      write: (tx, reach) => correctAtom(tx, reach, id, { ...changes, expected: revision ?? null, at: clock.now() }),
      libraryOf: correctedLibrary,
    });
    switch (correction?.kind) {
      case undefined:
      case "absent":
        throw new ToolFault(NO_ATOM_HINT);
      case "shared":
        throw new ToolFault(SHARED_ATOM);
      case "conflict":
        throw new ToolFault(`${movedOn(correction.revision, revision)} correct that.`);
      case "corrected": {
        const most = { note: "Corrected.", atom: {} };
        const atom = shownAtom(correctedJson(key, correction.atom, input));
        const shown = shortenAtom(atom, maxTokens - tokensIn(most, correctedText(most)));
        return compact({ ...most, atom: shown });
      }
    }
  },
);

/** Returns the answer as text. */
function correctedText({ note, atom }: Corrected): string {
  return paragraphs(note, atom && atomText(atom));
}

type ForgetArgs = { id: string; revision?: number; now: boolean };
type Forgotten = { readonly note?: string; readonly forgotten: string; readonly keptUntil?: string };

export const memoryForgetAtom = defineTool<ForgetArgs, Forgotten>(
  {
    operation: "mcp.memory_forget_atom",
    title: "Forget an atom",
    description: `Forgets an atom with all its revisions. For ${DAYS_KEPT} days a person can restore it, unless now is set: for what should never have been kept, such as a secret. What is wrong or outdated is corrected with memory_correct_atom.`,
    annotations: DELETES,
    input: {
      id: ATOM_ID,
      revision: { ...REVISION, description: "The one that you have read." },
      now: { type: "boolean", default: false, description: "Delete it for ever." },
    },
    requires: ["id"],
    output: {
      forgotten: { type: "string", description: "The id of the atom." },
      keptUntil: { type: "string", description: "Until when it can be restored; left out where it is gone." },
    },
    text: forgottenText,
  },
  async ({ write }, { id, revision, now }) => {
    const expected = revision ?? null;
    const end = now ? deleteAtom : forgetAtom;
    const ended = await write<Deletion | Forgetting>("mcp.memory_forget_atom", {
      write: (tx, reach) => end(tx, reach, id, expected),
      libraryOf: deletedLibrary,
    });
    switch (ended?.kind) {
      case undefined:
      case "absent":
        throw new ToolFault(NO_ATOM_HINT);
      case "shared":
        throw new ToolFault(SHARED_ATOM);
      case "conflict":
        throw new ToolFault(`${movedOn(ended.revision, revision)} forget it with that revision.`);
      case "deleted":
        return { forgotten: id };
      case "forgotten":
        return { forgotten: id, keptUntil: rfc3339Millis(ended.keptUntil) };
    }
  },
);

/** Returns the answer as text. */
function forgottenText({ note, forgotten, keptUntil }: Forgotten): string {
  const kept = keptUntil === undefined ? "It is gone for ever." : `It can be restored until ${keptUntil}.`;
  return paragraphs(note, `Forgotten, with its revisions: atom ${forgotten}. ${kept}`);
}

function movedOn(present: number, seen: number | undefined): string {
  return `The atom is at revision ${present}, not ${seen}: read it again with memory_recall and its id, and`;
}
