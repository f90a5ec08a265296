import { ObjectOwners } from "../../../server/ownership/object-owners.ts";
import type { MadeObject } from "../../../store/gateways/kept-objects.ts";

/** Owners in memory, as the database keeps them; `database` says whether it is away, and counts what it is asked. */
export function ownersInMemory(monotonic: () => number = () => 0) {
  const database = { isAway: false, records: 0, questions: 0 };
  const kept = new Map<string, MadeObject>();
  const charged = new Set<string>();
  const keyOf = ({ digest, origin }: Pick<MadeObject, "digest" | "origin">) => `${digest}${origin}`;
  const endOf = ({ lastsMs }: MadeObject) => lastsMs ?? Number.POSITIVE_INFINITY;
  const requireHere = () => {
    if (database.isAway) throw new Error("the database is away");
  };
  const owners = new ObjectOwners({
    record: async (made) => {
      database.records++;
      requireHere();
      for (const one of made) {
        const before = kept.get(keyOf(one)) ?? one;
        const longer = endOf(one) > endOf(before) ? one : before;
        kept.set(keyOf(one), { ...longer, teamId: before.teamId === one.teamId ? one.teamId : "" });
      }
      return made.filter((one) => kept.get(keyOf(one))?.teamId === "");
    },
    find: async (questions) => {
      database.questions++;
      requireHere();
      return questions.map(({ teamId, digest }) =>
        [...kept.values()].filter((one) => one.teamId === teamId && one.digest === digest).map(({ origin }) => origin),
      );
    },
    end: async (teamId, object) => {
      requireHere();
      if (kept.get(keyOf(object))?.teamId === teamId) kept.delete(keyOf(object));
    },
    charge: async (objects) => {
      requireHere();
      return objects.map((object) => {
        const isFirst = !charged.has(keyOf(object));
        charged.add(keyOf(object));
        return isFirst;
      });
    },
    findCharged: async (questions) => {
      requireHere();
      return questions.map(({ teamId, digest }) =>
        [...kept.values()].every((one) => one.teamId !== teamId || one.digest !== digest || charged.has(keyOf(one))),
      );
    },
    monotonic,
  });
  return { database, kept, owners };
}
