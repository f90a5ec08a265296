/** By which atoms a search learns how frequent words are (memory/store/search/candidates/frequencies.ts). */
export const sql = "";

/**
 * The atoms of a library in an order that has nothing to do with what they are or when they were saved: by the random
 * bits of their ids.
 */
export const indexes = [
  { name: "atoms_at_random", on: "atoms (library_id, (substring(uuid_send(id) from 9)))" },
] as const;
