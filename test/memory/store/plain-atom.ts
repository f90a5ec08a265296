import type { AtomFields } from "../../../memory/store/rows/atom.ts";

/** An atom of which nothing is said but a statement. */
export const PLAIN: AtomFields = {
  content: "A statement.",
  tags: [],
  source: null,
  importance: 5,
  metadata: {},
  links: [],
  expiresAt: null,
  validFrom: null,
  validTo: null,
};
