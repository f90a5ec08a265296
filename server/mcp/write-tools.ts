import { permits } from "../../domain/access/authorize.ts";
import { correctAtom, deleteAtom } from "../../store/memory/atom-writes.ts";
import { type AtomChanges, atomChanges, NOTHING_CHANGED } from "../memory/atom-fields.ts";
import { atomJson, correctedJson } from "../memory/atom-json.ts";
import { ATOM_ID, ATOM_INPUT, REVISION } from "../memory/schemas.ts";
import { correctedLibrary, deletedLibrary } from "../memory/write-as.ts";
import { atomText, CORRECTED_OUTPUT } from "./atom-text.ts";
import { defineTool, NO_ATOM_HINT, ToolFault, WRITE_ANNOTATIONS } from "./tool.ts";

/** What is forgotten does not come back; nothing more happens the second time. */
const DELETES = { readOnlyHint: false, destructiveHint: true, idempotentHint: true } as const;
export const memoryCorrectAtom = defineTool<AtomChanges & { id: string; revision?: number }>(
  {
    operation: "mcp.memory_correct_atom",
    title: "Correct an atom",
    description:
      "Changes an atom that is wrong, outdated or incomplete; fields that are left out stay as they are, and the earlier revision is kept. Pass the revision that you have read, so that another's correction in between is not lost.",
    annotations: WRITE_ANNOTATIONS,
    input: {
      id: ATOM_ID,
      revision: { ...REVISION, description: "The revision that you have read; left out, the latest is corrected." },
      ...ATOM_INPUT,
    },
    requires: ["id"],
    output: { atom: CORRECTED_OUTPUT },
  },
  async ({ clock, key, write }, { id, revision, ...input }) => {
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
      case "conflict":
        throw new ToolFault(`${movedOn(correction.revision, revision)} correct that.`);
      case "corrected": {
        const { atom } = correction;
        const shown = permits(key, "mcp.memory_recall")
          ? atomText(atomJson(key, atom))
          : `atom ${id}, now at revision ${atom.revision}.`;
        return { structured: { atom: correctedJson(key, atom, input) }, text: `Corrected: ${shown}` };
      }
    }
  },
);

export const memoryForgetAtom = defineTool<{ id: string; revision?: number }>(
  {
    operation: "mcp.memory_forget_atom",
    title: "Forget an atom",
    description:
      "Deletes an atom with all its revisions, for ever. Use it for what should never have been kept, such as a secret or what a person asked you to forget; what is only wrong or outdated is corrected with memory_correct_atom, which keeps the history. Pass the revision that you have read, so that another's correction in between is not lost.",
    annotations: DELETES,
    input: {
      id: ATOM_ID,
      revision: { ...REVISION, description: "The revision that you have read; left out, the latest is deleted." },
    },
    requires: ["id"],
    output: { forgotten: { type: "string", description: "The id of the atom that is gone." } },
  },
  async ({ write }, { id, revision }) => {
    const deletion = await write("mcp.memory_forget_atom", {
      write: (tx, reach) => deleteAtom(tx, reach, id, revision ?? null),
      libraryOf: deletedLibrary,
    });
    switch (deletion?.kind) {
      case undefined:
      case "absent":
        throw new ToolFault(NO_ATOM_HINT);
      case "conflict":
        throw new ToolFault(`${movedOn(deletion.revision, revision)} forget it with that revision.`);
      case "deleted":
        return { structured: { forgotten: id }, text: `Forgotten, with its revisions: atom ${id}.` };
    }
  },
);

function movedOn(present: number, seen: number | undefined): string {
  return `The atom is at revision ${present}, not ${seen}: read it again with memory_recall and its id, and`;
}
