import type { AtomJson, AtomRevisionJson } from "../memory/atom-json.ts";
import { encodedBytes } from "../memory/paging.ts";
import { RANKING } from "../memory/response-schemas.ts";

/** What a writer has set, in the output of an atom and of a revision. */
const FIELDS_OUTPUT = {
  content: { type: "string" },
  tags: { type: "array", items: { type: "string" } },
  source: { type: ["string", "null"] },
  importance: { type: "number" },
  metadata: { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } },
  links: {
    type: "array",
    items: {
      type: "object",
      required: ["rel", "id"],
      properties: { rel: { type: "string" }, id: { type: "string", description: "For memory_recall." } },
    },
  },
  expiresAt: { type: ["string", "null"], description: "From when on it is forgotten." },
} as const;
const FIELD_NAMES = Object.keys(FIELDS_OUTPUT);

/** The output schema of one atom. */
export const ATOM_OUTPUT = {
  type: "object",
  required: ["id", "library", ...FIELD_NAMES, "created", "updated", "revision"],
  properties: {
    id: { type: "string" },
    library: { type: "string" },
    ...FIELDS_OUTPUT,
    created: { type: "string" },
    updated: { type: "string" },
    revision: { type: "integer" },
    ...RANKING,
    snippet: { type: "string", description: "Passages around what was found, the words between **." },
  },
} as const;

/** The output schema of an atom that was corrected, by a key that may not be able to read it. */
export const CORRECTED_OUTPUT = {
  ...ATOM_OUTPUT,
  required: ["id", "updated", "revision"],
  description: "The whole atom, where you may read it; else besides these three what you have sent.",
} as const;

export const REVISIONS_OUTPUT = {
  type: "array",
  items: {
    type: "object",
    required: ["revision", ...FIELD_NAMES, "updated"],
    properties: {
      revision: { type: "integer" },
      ...FIELDS_OUTPUT,
      updated: { type: "string", description: "Since when it was so." },
    },
  },
} as const;

export const ATOMS_OUTPUT = { type: "array", items: ATOM_OUTPUT } as const;

/** What an item takes of an answer, where it is structured and in the text that says the same. */
export function shownBytes<Json>(textOf: (item: Json) => string): (item: Json) => number {
  // A text behind another one has an empty line between, of which each break is two characters.
  return (item) => encodedBytes(item) + encodedBytes(textOf(item)) + 4;
}

/** Atoms for a reader: one paragraph each, with what a later call needs. */
export function atomsText(atoms: readonly AtomJson[], none: string): string {
  return atoms.length === 0 ? none : atoms.map(atomText).join("\n\n");
}

export function atomText(atom: AtomJson): string {
  return withFacts(atom, [`id ${atom.id}`, `revision ${atom.revision}`, `library ${atom.library}`]);
}

/** One revision, for a reader of the list of an atom's. */
export function revisionText(revision: AtomRevisionJson): string {
  return withFacts(revision, [`revision ${revision.revision}`]);
}

function withFacts(atom: AtomRevisionJson, which: readonly string[]): string {
  const facts = [
    ...which,
    `importance ${atom.importance}`,
    ...(atom.tags.length === 0 ? [] : [`tags ${atom.tags.join(", ")}`]),
    ...(atom.source === null ? [] : [`source ${atom.source}`]),
    ...Object.entries(atom.metadata).map(([name, value]) => `${name}: ${value}`),
    ...atom.links.map(({ rel, id }) => `${rel} ${id}`),
    ...(atom.expiresAt === null ? [] : [`expires ${atom.expiresAt}`]),
    `updated ${atom.updated}`,
  ];
  return `${atom.content}\n(${facts.join("; ")})`;
}
