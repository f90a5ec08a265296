import type { StoredAuditEvent } from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { isId } from "../../../store/database/ids.ts";
import { namesOf } from "../../../store/objects/references.ts";
import { refName } from "../keys/key-words.ts";

/** Names of gateways and libraries, as `namespace/name`, by the ids that changes refer to them by. */
export type ReferenceNames = ReadonlyMap<string, string>;

/**
 * Reads the names of the gateways and libraries whose ids occur in the changes of events, limited to `teamIds`: a
 * change has texts of its author's choice too, which may be any id.
 *
 * @param teamIds teams whose gateways and libraries may be named; undefined for all
 */
export async function referenceNames(
  db: Db,
  events: readonly StoredAuditEvent[],
  teamIds: readonly string[] | undefined,
): Promise<ReferenceNames> {
  const ids = [...new Set(events.flatMap(({ detail }) => textsIn(detail.changed)).filter(isId))];
  const gateways = await namesOf(db, "gateways", ids, teamIds);
  const libraries = await namesOf(db, "libraries", ids, teamIds);
  return new Map([...gateways, ...libraries].map(([id, ref]) => [id, refName(ref)]));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
