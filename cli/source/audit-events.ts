import type { Kind } from "../../domain/kinds/kinds.ts";
import { eventText } from "../../server/management/audit/event-text.ts";
import type { ManagementClient } from "../management/management-client.ts";
import type { EventFilter, ListedEvent } from "./source.ts";

/** Largest number of entries of the log that are searched, the latest first. */
const MAX_LOOKED = 2_000;

/** Kinds by the first word of an action. */
const KINDS: Readonly<Record<string, Kind>> = {
  key: "PlatformKey",
  team: "PlatformTeam",
  gateway: "ModelGateway",
  library: "MemoryLibrary",
};
/** Actions after which a person may have to act. */
const WARNINGS = new Set([
  ...["key.revoked", "key.leaked", "key.expiring", "key.consumer_late"],
  ...["key.budget_reached", "team.budget_reached"],
]);

/** Returns the events in the audit log of declared objects and of objects made by hand, the oldest first. */
export async function auditEvents(
  client: Pick<ManagementClient, "searchAudit">,
  { kind, namespace, name, id, from }: EventFilter,
): Promise<ListedEvent[]> {
  const events: ListedEvent[] = [];
  for await (const event of client.searchAudit({ about: id ?? name, from }, MAX_LOOKED)) {
    const { at, action, detail, actor } = event;
    const about = { kind: KINDS[action.split(".")[0] ?? ""], namespace: event.namespace ?? "", name: event.name ?? "" };
    if (about.kind === undefined || (kind !== undefined && about.kind !== kind)) continue;
    if (id !== undefined ? event.keyId !== id : name !== undefined && about.name !== name) continue;
    if (namespace !== undefined && about.namespace !== namespace) continue;
    const why = typeof detail.why === "string" ? `: ${JSON.stringify(detail.why)}` : "";
    events.push({
      ...{ at, type: WARNINGS.has(action) ? "Warning" : "Normal", reason: action },
      ...{ kind: about.kind, namespace: about.namespace, name: about.name },
      message: `${eventText(action, detail)}, by ${actor}${why}`,
      count: 1,
    });
  }
  return events.reverse();
}
