import { PGlite } from "@electric-sql/pglite";
import { Kysely, PGliteDialect } from "kysely";
import type { Store } from "./open.ts";
import type { Database } from "./schema.ts";

/**
 * PGlite has one connection. Kysely lets one user at a time have it, so a transaction's queries go through its own
 * handle, and everything else waits until it is over. Isolation levels are therefore not asked for, nor needed.
 */
export async function openPGliteDatabase(folder: string): Promise<Store> {
  const pglite = await PGlite.create(folder);
  const db = new Kysely<Database>({ dialect: new PGliteDialect({ pglite }) });
  return {
    db,
    engine: "pglite",
    async listen(channel, onNotify, _onEnd) {
      const unlisten = await pglite.listen(channel, onNotify);
      return {
        ping: async () => {
          await pglite.query("select 1");
        },
        close: () => unlisten(),
      };
    },
    async close() {
      await db.destroy();
      if (!pglite.closed) await pglite.close();
    },
  };
}
