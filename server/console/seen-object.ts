import type { Db } from "../../store/database/change.ts";
import { isId } from "../../store/database/ids.ts";
import { listObjects, type ObjectKind, type StoredOf } from "../../store/objects/objects.ts";
import { problem } from "../http/problems/problem.ts";
import { type Rights, visibleTeams } from "../management/rights.ts";

/** Reads an object that the caller may see. @throws Problem `not_found`, also for an object of another team */
export async function seeObject<K extends ObjectKind>(
  db: Db,
  kind: K,
  rights: Rights,
  id: string,
): Promise<StoredOf[K]> {
  const found = isId(id) ? await listObjects(db, kind, { id, teamIds: visibleTeams(rights), limit: 1 }) : [];
  const [object] = found;
  if (object === undefined) throw problem("not_found", `There is no ${kind} of this id.`);
  return object;
}
