/**
 * Replicas without a server: each follows the feed as `keyplane server` does, over connections of its own. Run by
 * `scale-world.ts` with the database's URL and how many; prints `ready` when each of them decides.
 */
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { FEED_CONNECTIONS } from "../../store/feed/feed-connections.ts";
import { until } from "../env/until.ts";
import { startReplica } from "../server/key-index/replica-fixtures.ts";

// They end with the process that started them, however that ends.
process.stdin.on("end", () => process.exit()).resume();
const [url = "", count] = process.argv.slice(2);
const followers = await Promise.all(
  Array.from({ length: Number(count) }, async () =>
    startReplica(await openPostgres(url), [], await openPostgres(url, FEED_CONNECTIONS)),
  ),
);
await until("every replica decides", () => followers.every(({ view }) => view.isCurrent()));
process.stdout.write("ready\n");
