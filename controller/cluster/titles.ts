import { nameSome } from "../../domain/name-some.ts";

/** Objects as messages name them. */
type Named = { readonly kind: string; readonly namespace: string; readonly name: string };

export const titleOf = ({ kind, namespace, name }: Named): string =>
  `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;

/** The first of them, and how many more there are. */
export function listTitles(all: readonly Named[], max: number): string {
  return nameSome(all.map(titleOf), max);
}
