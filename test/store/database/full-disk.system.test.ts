import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { DatabaseUnavailableError } from "../../../store/database/errors.ts";
import { openPGlite } from "../../../store/database/pglite/pglite.ts";

test("c62: the embedded database on a disk that fills up ends, says why, and has all that was committed once there is room", async () => {
  const disk = mkdtempSync("/tmp/keyplane-disk-");
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=90m", "tmpfs", disk]);
  onTestFinished(() => {
    spawnSync("umount", [disk]);
    rmSync(disk, { recursive: true });
  });
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
