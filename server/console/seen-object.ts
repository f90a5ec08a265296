import type { Db } from "../../store/database/change.ts";
import { isId } from "../../store/database/ids.ts";
import { listObjects, type ObjectKind, type StoredOf } from "../../store/objects/objects.ts";
import { problem } from "../http/problems/problem.ts";
import { type Rights, visibleTeams } from "../management/rights.ts";

/** @throws Problem `not_found` for one that is another team's too */
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
