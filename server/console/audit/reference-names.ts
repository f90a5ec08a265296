import type { StoredAuditEvent } from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { isId } from "../../../store/database/ids.ts";
import { namesOf } from "../../../store/objects/references.ts";
import { refName } from "../keys/key-words.ts";

/** What gateways and libraries are called that changes have by their ids, as `namespace/name` by the id. */
export type ReferenceNames = ReadonlyMap<string, string>;

/**
 * The names of what events say that was changed. A change has texts of its author's choice too, which may be any id.
 *
 * @param teamIds whose gateways and libraries may be named; undefined for all
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
