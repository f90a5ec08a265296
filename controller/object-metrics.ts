import { Gauge, type Registry } from "@prometheus-io/client";
import { KINDS } from "../domain/kinds/kinds.ts";
import type { Cluster, DeclaredObject } from "./cluster/port.ts";

/**
 * Exports what the declarations' statuses say, from what has been watched: a controller that does not lead watches
 * nothing, and has none of these series.
 *
 * @param now milliseconds since the epoch
 */
export function observeObjects(registry: Registry, cluster: Pick<Cluster, "list">, now: () => number): void {
  const registers = [registry];
  new Gauge({
    name: "keyplane_object_conditions",
    help: "Declared objects by kind, condition and its status",
    labelNames: ["kind", "type", "status", "reason"],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of countConditions(cluster)) this.set(labels, count);
    },
  });
  new Gauge({
    name: "keyplane_keys_expiring",
    help: "Keys that expire within a week without a rotation before",
    registers,
    collect() {
      this.set(cluster.list("PlatformKey").filter((key) => isExpiring(key, now())).length);
    },
  });
}

/** True if the end that the status warns of is still to come: the warning stays after that. */
function isExpiring({ status }: DeclaredObject, now: number): boolean {
  return typeof status?.expiryWarned === "string" && Date.parse(status.expiryWarned) > now;
}

type Labels = { readonly kind: string; readonly type: string; readonly status: string; readonly reason: string };

/** Counts conditions before any series is set: each of many thousand objects has some ten conditions. */
function countConditions(
  cluster: Pick<Cluster, "list">,
): Iterable<{ readonly labels: Labels; readonly count: number }> {
  const counted = new Map<string, { readonly labels: Labels; count: number }>();
  for (const kind of KINDS) {
    for (const { type, status, reason } of cluster.list(kind).flatMap((object) => object.status?.conditions ?? [])) {
      const series = `${kind} ${type} ${status} ${reason}`;
      const known = counted.get(series);
      if (known === undefined) counted.set(series, { labels: { kind, type, status, reason }, count: 1 });
      else known.count++;
    }
  }
  return counted.values();
}
