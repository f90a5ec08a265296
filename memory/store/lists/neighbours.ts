import type { Reach } from "../../../domain/access/reach.ts";
import type { Db } from "../../../store/database/change.ts";
import type { ListPage, PageSize } from "../../../store/libraries/page.ts";
import type { Atom, AtomPosition } from "../rows/atom.ts";
import { listAtoms } from "./atom-list.ts";

/** One link between an atom and its neighbour: `out` is the atom's own, `in` is the neighbour's. */
export type Relation = { readonly rel: string; readonly direction: "out" | "in" };

/** An atom that another one links to, or that links to it, or both. */
export type AtomNeighbour = { readonly atom: Atom; readonly relations: readonly Relation[] };

/** Returns a page of the atoms of the reach that this atom links to or that link to it: each once, newest first. */
export async function listNeighbours(
  db: Db,
  reach: Reach,
  { id, links }: Atom,
  page: PageSize & { readonly after: AtomPosition | null; readonly limit: number },
): Promise<ListPage<AtomNeighbour>> {
  const linked = [...new Set(links.map((link) => link.id))];
  const { items, isMore } = await listAtoms(db, reach, { ...page, libraryId: null, neighbourOf: { id, linked } });
  return { items: items.map((atom) => ({ atom, relations: relationsOf(atom) })), isMore };

  function relationsOf(atom: Atom): Relation[] {
    return [
      ...links.filter((link) => link.id === atom.id).map(({ rel }) => ({ rel, direction: "out" as const })),
      ...atom.links.filter((link) => link.id === id).map(({ rel }) => ({ rel, direction: "in" as const })),
    ];
  }
}
