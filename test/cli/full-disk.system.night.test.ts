import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { NIGHTLY } from "../env/nightly.ts";
import { expectRefusal, expectToServe, makeFolder, up } from "./data-folder.ts";

/** Room for less and less of what a first start writes: a file, the database, its schema. By day for half a database. */
for (const size of NIGHTLY ? ["4k", "20m", "39m"] : ["20m"]) {
  test(`c62: up on a disk of ${size} says that it is full, and serves once there is room`, async () => {
    const folder = makeFolder();
    const disk = join(folder, "disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk]);
    onTestFinished(() => void spawnSync("umount", [disk]));
    await expectRefusal(up(folder, "disk/data"), /^keyplane: .*(No space left on device|no room).*: make room there/i);
    execFileSync("mount", ["-o", "remount,size=200m", disk]);
    await expectToServe(folder, "disk/data");
  });
}
