import type { Store } from "../../../store/database/store.ts";

/** A store whose database is away until it is said to be there: what is asked of it meanwhile throws. */
export function awayStore(store: Store) {
  const database = { isAway: true };
  const db = new Proxy(store.db, {
    get: (target, name) => {
      if (database.isAway) throw new Error("the database is away");
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { database, store: { ...store, db, backgroundDb: db } };
}
