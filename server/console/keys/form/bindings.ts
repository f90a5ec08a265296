import type { Db } from "../../../../store/database/change.ts";
import { listObjects, type StoredObject } from "../../../../store/objects/objects.ts";
import { refName } from "../key-words.ts";
import type { Bindings } from "./binding-fields.ts";
import type { Ref, RefNames } from "./key-fields.ts";
import type { Choices } from "./key-form.ts";

/** A form offers so many of each kind at most; any other is written. */
const OFFERED = 200;

/**
 * What keys of these teams can be bound to; undefined for all teams. Where there is more than one, each says whose it is.
 *
 * @param namespace of a key that is in one: there a name alone means what is in it, and what is in none has no name
 */
export async function bindingsFor(db: Db, teamIds: readonly string[] | undefined, namespace = ""): Promise<Bindings> {
  const [libraries, gateways] = await Promise.all([
    listObjects(db, "library", { teamIds, limit: OFFERED + 1 }),
    listObjects(db, "gateway", { teamIds, limit: OFFERED + 1 }),
  ]);
  const isNameable = (object: StoredObject) => namespace === "" || object.namespace !== "";
  const isOfOne = teamIds?.length === 1;
  const refOf = (object: StoredObject) => {
    const value = refName(object);
    return { value, title: isOfOne ? value : `${value} (${object.team})` };
  };
  return { libraries: offer(libraries, refOf, isNameable), gateways: offer(gateways, refOf, isNameable) };
}

/** How a form names what the spec of a key in a namespace refers to: in the words in which it is offered. */
export function refNamesFor(namespace: string, { libraries, gateways }: Bindings): RefNames {
  const namer =
    ({ offered }: Choices) =>
    (ref: Ref) => {
      const named = refName({ namespace: ref.namespace ?? namespace, name: ref.name });
      // Without a namespace it is the only one of that name, wherever that is.
      const [only, ...more] = offered.filter(({ value }) => value === named || value.endsWith(`/${named}`));
      return only === undefined || more.length > 0 ? named : only.value;
    };
  return { library: namer(libraries), gateway: namer(gateways) };
}

/** What a form offers as a key's team: the teams of these ids, or every team where they are undefined. */
export async function teamsFor(db: Db, teamIds: readonly string[] | undefined): Promise<Choices> {
  const teams = await listObjects(db, "team", { teamIds, limit: OFFERED + 1 });
  const isOnly = (name: string) => teams.filter((team) => team.name === name).length === 1;
  return offer(
    teams.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ({ id, name, cluster }) =>
      isOnly(name) ? { value: name, title: name } : { value: id, title: `${name} (${cluster})` },
  );
}

function offer(
  objects: readonly StoredObject[],
  show: (object: StoredObject) => Choices["offered"][number],
  isOffered: (object: StoredObject) => boolean = () => true,
): Choices {
  return { offered: objects.slice(0, OFFERED).filter(isOffered).map(show), isMore: objects.length > OFFERED };
}
