/** A PostgreSQL whose disk is full: a tablespace on a file system of its own. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { checkDatabase } from "../../cli/doctor/database.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { createMetrics } from "../../processes/metrics.ts";
import { createLog } from "../../runtime/log.ts";
import { RefusalSampler } from "../../server/auth/refusals/refusals.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { freshDatabase } from "../env/database/engines.ts";
import { startHarness } from "../server/harness.ts";
import { addTeamsWithLibraries } from "./libraries.ts";

/** A database of the run's PostgreSQL that has 60 MB of disk. */
async function onSmallDisk(): Promise<{ store: Store; url: string }> {
  const { url, drop } = await freshDatabase();
  const server = new URL(url);
  server.pathname = "/postgres";
  const admin = await openPostgres(server.href);
  const { rows } = await sql<{ data_directory: string }>`show data_directory`.execute(admin.db);
  const disk = mkdtempSync("/tmp/keyplane-disk-");
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=60m", "tmpfs", disk]);
  const { uid, gid } = statSync(String(rows[0]?.data_directory));
  chownSync(disk, uid, gid);
  chmodSync(disk, 0o700);
  const name = new URL(url).pathname.slice(1);
  const tablespace = `small_${name}`;
  await sql`create tablespace ${sql.id(tablespace)} location ${sql.lit(disk)}`.execute(admin.db);
  await sql`alter database ${sql.id(name)} set tablespace ${sql.id(tablespace)}`.execute(admin.db);
  const store = await openPostgres(url);
  onTestFinished(async () => {
    await store.close();
    await drop();
    await sql`drop tablespace ${sql.id(tablespace)}`.execute(admin.db);
    await admin.close();
    spawnSync("umount", [disk]);
    rmSync(disk, { recursive: true });
  });
  await migrate(store);
  return { store, url };
}

/** Until the database has no room for another page. */
async function fill({ db }: Store): Promise<void> {
  await sql`create table filler (text text)`.execute(db);
  for (const rows of [20_000, 1_000, 100, 1]) {
    for (let isFull = false; !isFull; ) {
      await sql`insert into filler select repeat(md5(n::text), 30) from generate_series(1, ${rows}::integer) as n`
        .execute(db)
        .catch((error: { code?: string }) => {
          if (error.code !== "53100") throw error;
          isFull = true;
        });
    }
  }
}

/** Rows of the audit log that no page has room for all of. */
const REFUSALS = 20;

/** Refuses calls: how many of them the audit log lacks. */
async function lostRefusals(store: Store): Promise<number> {
  const metrics = createMetrics();
  const log = createLog("silent");
  const refusals = new RefusalSampler({ ...{ store, metrics, log, clock: Date }, replica: "full", threads: 1 });
  const client = { ip: "198.51.100.7", raw: new IncomingMessage(new Socket()) };
  const refusal = { client, at: Date.now(), code: "unauthorized", cause: "unknown", seq: 7, keyId: null, teamId: null };
  for (let i = 0; i < REFUSALS; i++) refusals.record({ ...refusal, route: `/${"atoms/".repeat(100)}${i}` });
  await refusals.close();
  const text = await metrics.registry.metrics();
  return Number(/^keyplane_audit_events_lost_total\{reason="unwritten"\} (\d+)$/m.exec(text)?.[1]);
}

test("c44, c62: a save that finds the database's disk full is answered so, and what to do, as doctor begins with it", async () => {
  const { store, url } = await onSmallDisk();
  await addTeamsWithLibraries(store);
  const server = await startHarness({ mounts: [{ at: "", routes: memoryRoutes }], store });
  onTestFinished(() => server.close());
  const key = server.addKey({ teamDefaultLibraryId: "lib-handbook" });
  const headers = { "x-api-key": key, "content-type": "application/json" };
  // Which nothing makes smaller.
  const content = () => randomBytes(12_000).toString("base64");
  const save = () =>
    fetch(`${server.url}/atoms`, { method: "POST", headers, body: JSON.stringify({ content: content() }) });
  const findings = () =>
    checkDatabase({ url }, { encryptionKeys: async () => undefined, now: Date.now }, async () => []);
  expect((await save()).status).toBe(201);

  await fill(store);
  const refused = await save();
  expect(refused.status).toBe(507);
  expect(await refused.json()).toMatchObject({
    code: "insufficient_storage",
    detail: expect.stringContaining("make room there"),
  });
  expect((await fetch(`${server.url}/atoms`, { headers })).status, "what is stored can be read").toBe(200);
  expect(await lostRefusals(store)).toBe(REFUSALS);
  // PostgreSQL refuses a new connection by itself where it finds a file of its own outdated, and no room to write it.
  expect((await findings()).find(({ severity }) => severity === "error")).toMatchObject({
    name: expect.stringMatching(/^database-(storage|connection)$/),
    message: expect.stringMatching(/disk is full|No space left on device/),
    action: expect.stringContaining("make room there"),
  });

  await sql`drop table filler`.execute(store.db);
  expect((await save()).status).toBe(201);
  expect((await findings()).slice(0, 2)).toMatchObject([
    { name: "database-connection", severity: "ok" },
    { name: "database-storage", severity: "ok" },
  ]);
});
