import type { Db } from "../../../store/database/change.ts";
import { listObjects, type StoredObject } from "../../../store/objects.ts";
import type { Bindings } from "./binding-fields.ts";
import type { Offer } from "./key-form.ts";
import { refName } from "./key-words.ts";

/** A form offers so many of each kind at most; any other is written. */
const OFFERED = 200;

/**
 * What keys of these teams can be bound to; undefined for all teams. Where there is more than one, each says whose it is.
 */
export async function bindingsFor(db: Db, teamIds: readonly string[] | undefined): Promise<Bindings> {
  const [libraries, gateways] = await Promise.all([
    listObjects(db, "library", { teamIds, limit: OFFERED + 1 }),
    listObjects(db, "gateway", { teamIds, limit: OFFERED + 1 }),
  ]);
  const isOfOne = teamIds?.length === 1;
  const refOf = (object: StoredObject) => {
    const value = refName(object);
    return { value, title: isOfOne ? value : `${value} (${object.team})` };
  };
  return { libraries: offer(libraries, refOf), gateways: offer(gateways, refOf) };
}

/** The teams that somebody may make keys for, of these; undefined for every team. */
export async function teamsFor(db: Db, teamIds: readonly string[] | undefined): Promise<Offer> {
  const teams = await listObjects(db, "team", { teamIds, limit: OFFERED + 1 });
  const isOnly = (name: string) => teams.filter((team) => team.name === name).length === 1;
  return offer(
    teams.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ({ id, name, cluster }) =>
      isOnly(name) ? { value: name, title: name } : { value: id, title: `${name} (${cluster})` },
  );
}

function offer(objects: readonly StoredObject[], show: (object: StoredObject) => Offer["offered"][number]): Offer {
  return { offered: objects.slice(0, OFFERED).map(show), isMore: objects.length > OFFERED };
}
