import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { DatabaseUnavailableError } from "../../../store/database/errors.ts";
import { openPGlite } from "../../../store/database/pglite/pglite.ts";
import { copyEmbedded } from "../../env/database/embedded-database.ts";

/** Makes a disk of this size, for the running test. */
function makeDisk(size: string): string {
  const disk = mkdtempSync("/tmp/keyplane-disk-");
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk]);
  onTestFinished(() => {
    spawnSync("umount", [disk]);
    rmSync(disk, { recursive: true });
  });
  return disk;
}

test("c62: the embedded database on a disk that fills up ends, says why, and has all that was committed once there is room", async () => {
  const disk = makeDisk("90m");
  const folder = join(disk, "db");
  const store = await openPGlite(folder);
  await sql`create table filled (n integer, text text)`.execute(store.db);
  let written = 0;
  const fill = async () => {
    for (;;) {
      await sql`insert into filled select ${written}, string_agg(md5(random()::text), '') from generate_series(1, 10000)`.execute(
        store.db,
      );
      written++;
    }
  };
  await expect(fill()).rejects.toThrow("No space left on device");
  expect(written).toBeGreaterThan(0);
  expect(await store.failed).toMatchObject({ cause: { message: expect.stringContaining("No space left on device") } });
  await expect(sql`select 1`.execute(store.db)).rejects.toThrow(DatabaseUnavailableError);
  await store.close();

  execFileSync("mount", ["-o", "remount,size=200m", disk]);
  const again = await openPGlite(folder);
  const { rows } = await sql`select count(*) from filled`.execute(again.db);
  expect(rows).toEqual([{ count: written }]);
  await again.close();
});

/** Milliseconds after which a question looks at the write-ahead log again. */
const NEXT_LOOK_MS = 1_100;

test("the embedded database whose log is to be freed answers while its disk is full, and frees it once there is room", async () => {
  const disk = makeDisk("256m");
  const folder = join(disk, "db");
  await copyEmbedded(folder);
  const store = await openPGlite(folder);
  const segments = async () => (await readdir(join(folder, "pg_wal"))).filter((name) => name.length === 24).length;
  const count = async () => {
    await delay(NEXT_LOOK_MS);
    return (await sql`select count(*)::int from written`.execute(store.db)).rows;
  };
  await sql`create table written (n integer)`.execute(store.db);
  await count();
  // A slow machine takes long enough for a look in between, which frees what there is by then.
  let written = 0;
  for (; (await segments()) <= 5; written++) {
    await sql`insert into written values (${written})`.execute(store.db);
    await sql`select pg_switch_wal()`.execute(store.db);
  }
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, "other"), Buffer.alloc(bavail * bsize));

  const before = await segments();
  expect([await count(), await segments()]).toEqual([[{ count: written }], before]);

  rmSync(join(disk, "other"));
  expect(await count()).toEqual([{ count: written }]);
  expect(await segments()).toBeLessThan(before);
  await store.close();
});
