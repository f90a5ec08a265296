import { nameSome } from "../../domain/name-some.ts";
import type { ClusterEvent } from "./port.ts";

/** Objects as messages name them. */
type Named = { readonly kind: string; readonly namespace: string; readonly name: string };

export const titleOf = ({ kind, namespace, name }: Named): string =>
  `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;

/** An event of an object as a log has it. */
export const eventLine = (object: Named, { reason, message }: ClusterEvent): string =>
  `${titleOf(object)}: ${reason}: ${message}`;

/** The first of them, and how many more there are. */
export function listTitles(all: readonly Named[], max: number): string {
  return nameSome(all.map(titleOf), max);
}
