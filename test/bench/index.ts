import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { keyDigest, keyPrefix } from "../../domain/key/secret/key-format.ts";
import { change } from "../../store/database/change.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { reserveVersion } from "../../store/keys/lifecycle/key-reservations.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { makeTeam, reservationOf } from "../store/fixtures.ts";
import { copyKey, keyIdOf } from "./filled-store.ts";
import { residentMegabytes } from "./processes.ts";
import { figure, table } from "./table.ts";

const SIZES = [1, 1_000_000];
const WORKERS = [1, 4];
const GC_PAUSES = join(import.meta.dirname, "gc-pauses.ts");
/** Until the garbage of the start has been collected, in milliseconds. */
const REST = 10_000;

type Start = {
  readonly keys: number;
  readonly workers: number;
  readonly loadedMs: number;
  readonly resident: number;
  readonly gcMs: number;
};

/** Starts `keyplane server` on a PostgreSQL that has a million keys, and on one that has hardly any. */
export async function benchIndex(): Promise<string> {
  const postgres = await startOwnPostgres();
  const store = await openPostgres(postgres.url, { answerTimeoutMs: 0 });
  const starts: Start[] = [];
  try {
    await migrate(store);
    for (const keys of SIZES) {
      await fill(store, keys);
      for (const workers of WORKERS) starts.push(await measureStart(postgres.url, keys, workers));
    }
  } finally {
    await store.close();
    await postgres.stop();
  }
  return table(
    ["keyplane server", "loaded after ms", "resident MB", "more than without keys", "longest GC ms"],
    starts.map(({ keys, workers, loadedMs, resident, gcMs }) => {
      const bare = starts.find((start) => start.workers === workers)?.resident ?? Number.NaN;
      const name = `${figure(keys)} keys, ${workers} workers`;
      return [name, figure(loadedMs), figure(resident), figure(resident - bare), figure(gcMs, 1)];
    }),
  );
}

/** Copies of one key, by the database itself and without the feed's triggers: a row of the feed for each would take minutes. */
async function fill(store: Store, keys: number): Promise<void> {
  const plaintext = `inf_${randomBytes(24).toString("hex")}`;
  const template = reservationOf(await makeTeam(store), {
    digest: keyDigest(plaintext),
    prefix: keyPrefix(plaintext),
  });
  await change(store, null, (tx) => reserveVersion(tx, template));
  if (keys === 1) return;
  await store.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await copyKey(tx, template.key.id, 2, keys);
    await sql`insert into key_versions (key_id, number, digest, prefix, state, source_kind, minted_at)
      select ${keyIdOf(sql`n`)}, 1, sha256(n::text::bytea), 'inf_bench', 'active', 'minted', now()
      from generate_series(2, ${keys}::int) n`.execute(tx);
  });
  await sql`analyze`.execute(store.db);
}

/** The same for every server on the database. */
const ENCRYPTION_KEY = randomBytes(32).toString("base64");

/** From the moment that the server listens to the one that it decides, by its own log's times. */
async function measureStart(databaseUrl: string, keys: number, workers: number): Promise<Start> {
  const args = ["server", "--port", "0", "--admin-port", "0", "--workers", String(workers)];
  const env = {
    KEYPLANE_DATABASE_URL: databaseUrl,
    KEYPLANE_ENCRYPTION_KEY: ENCRYPTION_KEY,
  };
  const server = await startServing(args, env, ["--import", GC_PAUSES]);
  const { pid = 0 } = server.child;
  await delay(REST);
  server.child.kill("SIGUSR2");
  const said = () => server.lines.find((line) => line.startsWith("gc "));
  const pauses = await until("the server says how long it paused", said);
  const start = {
    keys,
    workers,
    loadedMs: timeOf(server.lines, "the key index was loaded") - timeOf(server.lines, "the server listens"),
    resident: residentMegabytes(pid),
    gcMs: Number(pauses.slice("gc ".length)),
  };
  await server.stop();
  return start;
}

/** When a log line was written, in milliseconds since 1970. */
function timeOf(lines: readonly string[], message: string): number {
  const line = lines.find((text) => text.includes(`"msg":"${message}"`));
  if (line === undefined) throw new Error(`the server did not log "${message}"`);
  return Date.parse(JSON.parse(line).time);
}
