import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../../store/database/change.ts";

/** A database as at a distance: each statement takes 20 ms more. */
export function farDatabase(db: Db): Db {
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await sleep(20);
      return result;
    },
  });
}
