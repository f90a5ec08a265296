/**
 * A writer beside the measurement: changes so many keys a second, one a transaction, until it is ended. Run by
 * `revocation.ts` with the database's URL, the keys' name and the rate; prints `ready`.
 */
import { sql } from "kysely";
import { change } from "../../store/database/change.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";

const [url = "", name = "", rate] = process.argv.slice(2);
const store = await openPostgres(url, { maxConnections: 4 });
const keys = await store.db.selectFrom("keys").select("id").where("name", "like", `${name}%`).execute();
const perSecond = Number(rate);
const from = performance.now();
let begun = 0;
let done = 0;

async function changeOne(): Promise<void> {
  const key = keys[begun++ % keys.length];
  await change(store, null, (tx) =>
    sql`update keys set mcp_default_library_id = ${`library-${begun}`} where id = ${key?.id}`.execute(tx),
  );
  done++;
}

process.stdout.write("ready\n");
let lastReport = from;
setInterval(() => {
  const due = ((performance.now() - from) / 1_000) * perSecond;
  // What it is behind is not made up for: the rate that was reached is reported instead.
  while (begun < due && begun - done < 16) void changeOne();
  if (performance.now() - lastReport < 1_000) return;
  process.stdout.write(`${done} in ${((performance.now() - from) / 1_000).toFixed(1)} s\n`);
  lastReport = performance.now();
}, 2);
