import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { ensureFolder } from "../../../controller/cluster/files/disk.ts";

it.runIf(existsSync("/proc/self"))(
  "a data folder that cannot be made is an error, and no endless attempt",
  async () => {
    await expect(ensureFolder("/proc/keyplane/data")).rejects.toThrow("ENOENT");
  },
);
