import type { AtomJson } from "../memory/atom-json.ts";

/** The output schema of one atom. */
export const ATOM_OUTPUT = {
  type: "object",
  required: ["id", "library", "content", "tags", "source", "importance", "created", "updated", "revision"],
  properties: {
    id: { type: "string" },
    library: { type: "string" },
    content: { type: "string" },
    tags: { type: "array", items: { type: "string" } },
    source: { type: ["string", "null"] },
    importance: { type: "number" },
    created: { type: "string" },
    updated: { type: "string" },
    revision: { type: "integer" },
    rank: { type: "number", description: "Higher is closer; only to be compared within one answer." },
    snippet: { type: "string", description: "Passages around what was found, the words between **." },
  },
} as const;

export const ATOMS_OUTPUT = { type: "array", items: ATOM_OUTPUT } as const;

/** Atoms for a reader: one paragraph each, with what a later call needs. */
export function atomsText(atoms: readonly AtomJson[], none: string): string {
  return atoms.length === 0 ? none : atoms.map(atomText).join("\n\n");
}

export function atomText(atom: AtomJson): string {
  const facts = [
    `id ${atom.id}`,
    `revision ${atom.revision}`,
    `library ${atom.library}`,
    `importance ${atom.importance}`,
    ...(atom.tags.length === 0 ? [] : [`tags ${atom.tags.join(", ")}`]),
    ...(atom.source === null ? [] : [`source ${atom.source}`]),
    `updated ${atom.updated}`,
  ];
  return `${atom.content}\n(${facts.join("; ")})`;
}
