import type { StoredAuditEvent } from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { isId } from "../../../store/database/ids.ts";
import { namesOf } from "../../../store/objects/references.ts";
import { refName } from "../keys/key-words.ts";

/** What gateways and libraries are called that changes have by their ids, as `namespace/name` by the id. */
export type ReferenceNames = ReadonlyMap<string, string>;

/** The names of what events say that was changed: a change refers to what is its own team's. */
export async function referenceNames(db: Db, events: readonly StoredAuditEvent[]): Promise<ReferenceNames> {
  const ids = [...new Set(events.flatMap(({ detail }) => textsIn(detail.changed)).filter(isId))];
  const gateways = await namesOf(db, "gateways", ids);
  const libraries = await namesOf(db, "libraries", ids);
  return new Map([...gateways, ...libraries].map(([id, ref]) => [id, refName(ref)]));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
