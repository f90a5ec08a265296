import { REPORTER } from "../../controller/cluster/kubernetes/events.ts";
import { ALL_EVENTS_PATH, eventsPath } from "../../controller/cluster/kubernetes/resources.ts";
import { isClusterScoped, isKind } from "../../domain/kinds/kinds.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import type { Selectors } from "./list-all.ts";
import type { EventFilter, ListedEvent } from "./source.ts";

/** Returns the path and selectors by which the API server finds the events that the controller has recorded. */
export function eventsQuery({ kind, namespace, name }: EventFilter): [path: string, selectors: Selectors] {
  const fields = [
    `reportingController=${REPORTER}`,
    ...(kind === undefined ? [] : [`regarding.kind=${kind}`]),
    ...(name === undefined ? [] : [`regarding.name=${name}`]),
  ];
  const isOfCluster = kind !== undefined && isClusterScoped(kind);
  const path = namespace === undefined && !isOfCluster ? ALL_EVENTS_PATH : eventsPath(namespace ?? "");
  return [path, { fieldSelector: fields.join(",") }];
}

/** Returns the events among an API server's items, the oldest first. */
export function eventsIn(items: readonly unknown[], { from = 0 }: EventFilter): ListedEvent[] {
  return items
    .flatMap(readEvent)
    .filter(({ at }) => Date.parse(at) >= from)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** Reads an event; empty if it is about another kind of object. */
function readEvent(event: unknown): ListedEvent[] {
  if (!isRecord(event) || !isRecord(event.regarding)) return [];
  const { regarding, type, reason, note, series, eventTime } = event;
  const kind = textOf(regarding.kind);
  if (!isKind(kind)) return [];
  const { count, lastObservedTime } = isRecord(series) ? series : {};
  return [
    {
      at: textOf(lastObservedTime) || textOf(eventTime),
      type: type === "Warning" ? "Warning" : "Normal",
      reason: textOf(reason),
      kind,
      namespace: textOf(regarding.namespace),
      name: textOf(regarding.name),
      message: textOf(note),
      count: typeof count === "number" ? count : 1,
    },
  ];
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
