import type { Kind } from "../../domain/kinds/kinds.ts";
import type { AuditJson } from "../../server/management/audit/audit-json.ts";
import { EVENT_TITLES, eventText } from "../../server/management/audit/event-text.ts";
import type { ManagementClient } from "../management/management-client.ts";
import type { EventFilter, ListedEvent } from "./source.ts";

/** Largest number of entries of the log that are searched for each action, the latest first. */
const MAX_LOOKED = 2_000;

/** Kinds by the first word of an action. */
const KINDS: Readonly<Record<string, Kind>> = {
  key: "PlatformKey",
  team: "PlatformTeam",
  gateway: "ModelGateway",
  library: "MemoryLibrary",
};
/** Actions about an object, as this build knows them. */
const KNOWN_ACTIONS = Object.keys(EVENT_TITLES).filter((action) => kindOf(action) !== undefined);
/** Actions after which a person may have to act. */
const WARNINGS = new Set([
  ...["key.revoked", "key.leaked", "key.expiring", "key.consumer_late"],
  ...["key.budget_reached", "team.budget_reached"],
]);

/**
 * Returns the events in the audit log of declared objects and of objects made by hand, the oldest first. Each action is
 * searched for by itself: callers without a good key write entries about an object all the time, thousands a day.
 */
export async function auditEvents(
  client: Pick<ManagementClient, "searchAudit">,
  { kind, namespace, name, id, from }: EventFilter,
): Promise<ListedEvent[]> {
  const found: (ListedEvent & { readonly seq: number })[] = [];
  // The last is for the actions of a later build.
  for (const action of [...KNOWN_ACTIONS, undefined]) {
    if (action !== undefined && kind !== undefined && kindOf(action) !== kind) continue;
    for await (const event of client.searchAudit({ action, about: id ?? name, from }, MAX_LOOKED)) {
      const about = kindOf(event.action);
      if (about === undefined || (kind !== undefined && about !== kind)) continue;
      if (action === undefined && Object.hasOwn(EVENT_TITLES, event.action)) continue;
      if (id !== undefined ? event.keyId !== id : name !== undefined && event.name !== name) continue;
      if (namespace !== undefined && (event.namespace ?? "") !== namespace) continue;
      found.push({ ...listedEvent(about, event), seq: event.id });
    }
  }
  found.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.seq - b.seq);
  return found.map(({ seq, ...event }) => event);
}

function kindOf(action: string): Kind | undefined {
  return KINDS[action.split(".")[0] ?? ""];
}

function listedEvent(kind: Kind, { at, action, detail, actor, namespace, name }: AuditJson): ListedEvent {
  const why = typeof detail.why === "string" ? `: ${JSON.stringify(detail.why)}` : "";
  return {
    ...{ at, type: WARNINGS.has(action) ? "Warning" : "Normal", reason: action },
    ...{ kind, namespace: namespace ?? "", name: name ?? "" },
    message: `${eventText(action, detail)}, by ${actor}${why}`,
    count: 1,
  };
}
