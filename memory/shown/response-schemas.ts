/** JSON Schemas of what the memory answers, for its description. A test holds the answers to them. */
import { OUTCOMES } from "../store/writes/import-atoms.ts";

const TEXT = { type: "string" } as const;
const TIME = { type: "string", format: "date-time" } as const;
const FIELDS = {
  content: TEXT,
  tags: { type: "array", items: TEXT },
  source: { type: ["string", "null"] },
  importance: { type: "number" },
  metadata: { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } },
  links: {
    type: "array",
    items: { type: "object", required: ["rel", "id"], properties: { rel: TEXT, id: TEXT } },
    description: "To atoms that this key may read.",
  },
  expiresAt: { type: ["string", "null"], format: "date-time" },
  validFrom: { type: ["string", "null"], format: "date-time" },
  validTo: { type: ["string", "null"], format: "date-time" },
} as const;
const ATOM_FIELDS = {
  id: TEXT,
  library: { type: "string", description: "As this key names it: name, or namespace/name." },
  ...FIELDS,
  created: TIME,
  updated: TIME,
  revision: { type: "integer" },
  shared: {
    type: "boolean",
    description:
      "In a call for a subject alone: whether all subjects share it, so that no such call changes it, or it is this one's own.",
  },
} as const;
/** Fields of an atom that are not in each answer. */
const OPTIONAL = ["shared"];

/** JSON Schemas of how an atom matches a search. */
export const RANKING = {
  rank: { type: "number", description: "Higher is closer; only to be compared within one answer." },
  match: {
    type: "string",
    enum: ["words", "similar", "nearest", "meaning"],
    description:
      "By all the words as they stand, by all of them in some form, by some of them, or by what it means alone.",
  },
} as const;

export const REPLACED_BY = {
  type: ["string", "null"],
  description: "The atom that replaces it, by a link of the kind replaces: what is true now.",
} as const;

function closedObject(title: string, properties: Readonly<Record<string, object>>) {
  const required = Object.keys(properties).filter((name) => !OPTIONAL.includes(name));
  return { title, type: "object", additionalProperties: false, required, properties } as const;
}

function list(title: string, item: object, more: Readonly<Record<string, object>>) {
  return closedObject(title, { items: { type: "array", items: item }, ...more });
}

const NEXT = {
  nextCursor: {
    type: ["string", "null"],
    description:
      "To be given as cursor for the next page; null on the last. A page may hold fewer than limit, since it ends at 1 MiB, and have a successor.",
  },
} as const;

export const ATOM = closedObject("Atom", ATOM_FIELDS);
/** JSON Schema of the answer to a correction. */
export const CORRECTED_ATOM = {
  ...ATOM,
  title: "CorrectedAtom",
  required: ["id", "updated", "revision"],
  description: "The whole atom; for a key without memory:read besides these three what the correction says.",
} as const;
export const ATOM_PAGE = list("AtomPage", ATOM, NEXT);
const POSITION = { type: "integer", minimum: 0 } as const;
const MATCHES = {
  type: "array",
  description: "Where the words of the search stand in the snippet, in UTF-16 code units: to is behind the last.",
  items: {
    type: "object",
    additionalProperties: false,
    required: ["from", "to"],
    properties: { from: POSITION, to: POSITION },
  },
} as const;
const SEARCH_PAGE = list(
  "SearchResult",
  closedObject("Hit", {
    ...ATOM_FIELDS,
    ...RANKING,
    snippet: { type: "string", description: "Passages around what was found, as they were written." },
    matches: MATCHES,
    replacedBy: REPLACED_BY,
  }),
  {
    ...NEXT,
    semantic: {
      type: "boolean",
      description:
        "Whether atoms were looked for by their meaning too. False where no library is embedded, where the search has quotes, `or` or exclusions, and where the question could not be embedded in time.",
    },
  },
);
export const SEARCH_RESULT = {
  ...SEARCH_PAGE,
  properties: {
    ...SEARCH_PAGE.properties,
    note: {
      type: "string",
      description: "Where nothing is found because of what the search excludes: what that hides, and what to do.",
    },
  },
} as const;
export const REVISION_PAGE = list(
  "RevisionPage",
  closedObject("Revision", { revision: { type: "integer" }, ...FIELDS, updated: TIME }),
  NEXT,
);

/** JSON Schema of the links between an atom and its neighbour. */
export const RELATIONS = {
  type: "array",
  items: {
    type: "object",
    additionalProperties: false,
    required: ["rel", "direction"],
    properties: {
      rel: TEXT,
      direction: {
        type: "string",
        enum: ["out", "in"],
        description: "out: a link of the atom that was asked for; in: a link of this one to it.",
      },
    },
  },
} as const;
export const NEIGHBOUR_PAGE = list(
  "NeighbourPage",
  closedObject("Neighbour", { ...ATOM_FIELDS, relations: RELATIONS }),
  NEXT,
);

const NEAR_DUPLICATES = {
  type: "array",
  items: {
    type: "object",
    additionalProperties: false,
    required: ["index", "id", "similarity"],
    properties: {
      index: { type: "integer", description: "Which of the atoms that were sent, counted from 0." },
      id: { type: "string", description: "The atom that the library had." },
      similarity: { type: "number", description: "1 for the same statement." },
      otherNumbers: {
        type: "boolean",
        description: "True of an atom that says almost the same with another number, sign or negation; else left out.",
      },
      shared: {
        type: "boolean",
        description: "True, to a call for a subject, of an atom that all subjects share; else left out.",
      },
    },
  },
  description:
    "Where duplicates=report asked for them; with duplicates=refuse those with otherNumbers, which refuse nothing.",
} as const;

/** JSON Schema of the answer to a save, with what was asked for beside it. */
export const SAVED_ATOM = {
  ...ATOM,
  title: "SavedAtom",
  properties: { ...ATOM_FIELDS, nearDuplicates: NEAR_DUPLICATES },
} as const;
export const SAVED_ATOMS = {
  title: "SavedAtoms",
  type: "object",
  additionalProperties: false,
  required: ["items"],
  properties: { items: { type: "array", items: ATOM }, nearDuplicates: NEAR_DUPLICATES },
} as const;

/** JSON Schema of an atom in the answer to a save that is repeated with its Idempotency-Key. */
const ATOM_OR_ID = {
  ...ATOM,
  title: "AtomOrId",
  required: ["id"],
  description: "The atom as it was saved; where it was corrected or is not there any more, its id alone.",
} as const;
export const REPLAYED_ATOM = {
  ...ATOM_OR_ID,
  title: "ReplayedAtom",
  properties: { ...ATOM_FIELDS, nearDuplicates: NEAR_DUPLICATES },
} as const;
export const REPLAYED_ATOMS = {
  ...SAVED_ATOMS,
  title: "ReplayedAtoms",
  properties: { items: { type: "array", items: ATOM_OR_ID }, nearDuplicates: NEAR_DUPLICATES },
} as const;

export const IMPORT_RESULT = closedObject("ImportResult", {
  ids: {
    type: "array",
    items: { type: ["string", "null"] },
    description: "The atoms' ids, in the order of what was sent; null for one that has expired, which is left out.",
  },
  outcomes: {
    type: "array",
    items: { type: "string", enum: [...OUTCOMES, "expired"] },
    description:
      "What became of each. With upsert, newer is one that the library has under this id itself and that was changed there since its updated: it is left as it is.",
  },
  droppedLinks: { type: "integer", description: "Links that led to no atom of the import, nor to one that is there." },
});

const JOB_STATUS = { type: "string", enum: ["queued", "running", "done", "failed"] } as const;
export const HANDED_OVER = closedObject("HandedOver", {
  id: { type: "string", description: "Of the job; the same for the same conversation in the same library." },
  status: JOB_STATUS,
});
export const EXTRACTION = closedObject("Extraction", {
  id: TEXT,
  status: JOB_STATUS,
  library: ATOM_FIELDS.library,
  calls: { type: "integer", description: "Calls of the model that the conversation takes." },
  done: { type: "integer", description: "How many of them are done." },
  found: { type: "integer", description: "Statements that the model found." },
  known: { type: "integer", description: "Those of them that the library had almost so, and that were not saved." },
  atomIds: { type: "array", items: TEXT, description: "The atoms of the others, all saved together at the end." },
  failure: { type: ["string", "null"], description: "Why the last call, or the job, came to nothing." },
  created: TIME,
  ended: { type: ["string", "null"], format: "date-time" },
});

export const ATOM_LINES = {
  title: "AtomLines",
  type: "string",
  description: "A JSON object on each line, as POST /atoms/import takes it. Broken off where it does not end.",
} as const;
