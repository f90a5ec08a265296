import type { Db } from "../../../../store/database/change.ts";
import { listObjects, type StoredObject } from "../../../../store/objects/objects.ts";
import { refName } from "../key-words.ts";
import type { Bindings } from "./binding-fields.ts";
import type { Ref, RefNames } from "./key-fields.ts";
import type { Choices } from "./key-form.ts";

/** Maximum number of libraries, gateways or teams that a form offers. Any other is typed. */
const OFFERED = 200;

/**
 * Lists the libraries and gateways that keys of these teams can be bound to. Each title names the teams that have one of
 * that name, unless there is exactly one team.
 *
 * @param teamIds undefined for all teams
 * @param namespace namespace of the key, empty for none. In a namespace, a reference without one means that namespace,
 * so objects without a namespace cannot be named and are not offered.
 */
export async function bindingsFor(db: Db, teamIds: readonly string[] | undefined, namespace = ""): Promise<Bindings> {
  const [libraries, gateways] = await Promise.all([
    listObjects(db, "library", { teamIds, limit: OFFERED + 1 }),
    listObjects(db, "gateway", { teamIds, limit: OFFERED + 1 }),
  ]);
  const isNameable = (object: StoredObject) => namespace === "" || object.namespace !== "";
  const titleOf = (value: string, namesakes: readonly StoredObject[]) =>
    teamIds?.length === 1 ? value : `${value} (${[...new Set(namesakes.map(({ team }) => team))].sort().join(", ")})`;
  const offer = (objects: readonly StoredObject[]) => {
    const byRef = Map.groupBy(objects.slice(0, OFFERED).filter(isNameable), refName);
    const offered = [...byRef].map(([value, namesakes]) => ({ value, title: titleOf(value, namesakes) }));
    return { offered, isMore: objects.length > OFFERED };
  };
  return { libraries: offer(libraries), gateways: offer(gateways) };
}

/** Returns how a form names the references of a key in a namespace: by the value that the form offers for them. */
export function refNamesFor(namespace: string, { libraries, gateways }: Bindings): RefNames {
  const namer =
    ({ offered }: Choices) =>
    (ref: Ref) => {
      const named = refName({ namespace: ref.namespace ?? namespace, name: ref.name });
      // A reference without a namespace means the only object of that name, in whichever namespace it is.
      const [only, ...more] = offered.filter(({ value }) => value === named || value.endsWith(`/${named}`));
      return only === undefined || more.length > 0 ? named : only.value;
    };
  return { library: namer(libraries), gateway: namer(gateways) };
}

/** Lists the teams that a form offers for a key: the teams of these ids, or every team if they are undefined. */
export async function teamsFor(db: Db, teamIds: readonly string[] | undefined): Promise<Choices> {
  const teams = await listObjects(db, "team", { teamIds, limit: OFFERED + 1 });
  const isOnly = (name: string) => teams.filter((team) => team.name === name).length === 1;
  const offered = teams
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, OFFERED)
    .map(({ id, name, cluster }) =>
      isOnly(name) ? { value: name, title: name } : { value: id, title: `${name} (${cluster})` },
    );
  return { offered, isMore: teams.length > OFFERED };
}
