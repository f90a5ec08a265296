import { nameSome } from "../../domain/name-some.ts";
import type { ClusterEvent } from "./port.ts";

/** Object as messages name it. */
type TitledObject = { readonly kind: string; readonly namespace: string; readonly name: string };

export const titleOf = ({ kind, namespace, name }: TitledObject): string =>
  `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;

/** Returns the line of a log for an event of an object. */
export const eventLine = (object: TitledObject, { reason, message }: ClusterEvent): string =>
  `${titleOf(object)}: ${reason}: ${message}`;

/** Returns the titles of the first `max` objects, and how many more there are. */
export function listTitles(all: readonly TitledObject[], max: number): string {
  return nameSome(all.map(titleOf), max);
}
