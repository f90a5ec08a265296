import type { Db } from "../../../store/database/change.ts";
import { listObjects, type StoredObject } from "../../../store/objects.ts";
import type { Bindings } from "./key-form.ts";
import { refName } from "./key-words.ts";

/** A form offers so many at most; any other can be bound by the API. */
const OFFERED = 200;

/**
 * What keys of these teams can be bound to; undefined for all teams. Where there is more than one, each says whose it is.
 */
export async function bindingsFor(db: Db, teamIds: readonly string[] | undefined): Promise<Bindings> {
  const [libraries, gateways] = await Promise.all([
    listObjects(db, "library", { teamIds, limit: OFFERED }),
    listObjects(db, "gateway", { teamIds, limit: OFFERED }),
  ]);
  return { libraries: titled(libraries, teamIds), gateways: titled(gateways, teamIds) };
}

function titled(objects: readonly StoredObject[], teamIds: readonly string[] | undefined) {
  return objects.map(({ namespace, name, team }) => {
    const ref = refName({ namespace, name });
    return { ref, title: teamIds?.length === 1 ? ref : `${ref} (${team})` };
  });
}
