import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { systemClock } from "../../runtime/clock.ts";
import { createReceipts } from "../../server/management/keys/shown/receipt.ts";
import { change } from "../../store/database/change.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam } from "../store/fixtures.ts";
import { cpuMicroseconds } from "./processes.ts";

/** Followers of one process: an event loop that has more measures its own lateness. */
const FOLLOWERS_OF_A_PROCESS = 50;
/** A replica has two at rest, four while it begins, and more where answers are long in coming on a busy machine. */
const CONNECTIONS = { ofReplica: 12, others: 30 };

export type ScaleWorld = Awaited<ReturnType<typeof startScaleWorld>>;

/** A PostgreSQL with so many keys, and so many replicas on it. */
export async function startScaleWorld(replicas: number, keyCount: number) {
  const connections = replicas * CONNECTIONS.ofReplica + CONNECTIONS.others;
  const postgres = await startOwnPostgres({ max_connections: String(connections) });
  const store = await openPostgres(postgres.url);
  const children: ChildProcess[] = [];
  const end = async () => {
    for (const child of children) child.kill("SIGKILL");
    await store.close();
    await postgres.stop();
  };
  try {
    await migrate(store);
    const home = await makeTeam(store);
    const keyIds: string[] = [];
    while (keyIds.length < keyCount) keyIds.push((await storeKey(store, home)).keyId);
    for (let left = replicas; left > 0; left -= FOLLOWERS_OF_A_PROCESS) {
      children.push(await startFollowers(postgres.url, Math.min(left, FOLLOWERS_OF_A_PROCESS)));
    }
    // As autovacuum does within a minute.
    await sql`vacuum replicas`.execute(store.db);
    const [pid] = (await readFile(join(postgres.dataFolder, "postmaster.pid"), "utf8")).split("\n");
    const receipts = createReceipts(store, systemClock);
    return {
      keyIds,
      end,
      /** Revokes a key, and waits for the receipt as the management API does. */
      async revoke(keyId: string): Promise<{ readonly confirmed: boolean; readonly tookMs: number }> {
        const { seq } = await change(store, null, (tx) => revokeKey(tx, keyId, "ByHand"));
        const committedAt = performance.now();
        const { confirmed } = await receipts.wait(seq);
        return { confirmed, tookMs: performance.now() - committedAt };
      },
      /** Changes what a key may do: without waiting for the replicas. */
      async change(keyId: string, libraryId: string): Promise<void> {
        await change(store, null, (tx) =>
          sql`update keys set mcp_default_library_id = ${libraryId} where id = ${keyId}`.execute(tx),
        );
      },
      /** What the database has taken and done so far. */
      async account() {
        const { rows } = await sql<{ transactions: number; connections: number }>`
          select xact_commit::float8 as transactions, numbackends as connections
          from pg_stat_database where datname = current_database()`.execute(store.db);
        const [{ transactions, connections } = { transactions: 0, connections: 0 }] = rows;
        return { cpuMs: cpuMicroseconds(Number(pid)) / 1_000, transactions, connections };
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function startFollowers(url: string, count: number): Promise<ChildProcess> {
  const file = join(import.meta.dirname, "followers-process.ts");
  const child = spawn(process.execPath, [file, url, String(count)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`the replicas ended with ${code}`)));
  ended.catch(() => {});
  await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
  return child;
}
