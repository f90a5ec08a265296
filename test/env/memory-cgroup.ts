import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./until.ts";

const ROOT = "/sys/fs/cgroup";

/** What a container with a limit of its memory is to the kernel. */
export type MemoryCgroup = {
  /** What a command is put behind to run in it. */
  readonly launcher: readonly string[];
  /** The most that its processes took at once, their sockets included; in bytes. */
  peak(): number;
  /** Once its processes have ended. */
  close(): Promise<void>;
};

/** The files of version 2, and of version 1, which counts sockets apart. */
const V2 = { root: ROOT, limits: ["memory.max"], peaks: ["memory.peak"] };
const V1 = {
  root: join(ROOT, "memory"),
  limits: ["memory.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes"],
  peaks: ["memory.max_usage_in_bytes", "memory.kmem.tcp.max_usage_in_bytes"],
};

/** Makes one. Only as root on Linux. */
export function makeMemoryCgroup(bytes: number): MemoryCgroup {
  const { root, limits, peaks } = existsSync(V1.root) ? V1 : V2;
  const folder = join(root, `keyplane-${randomUUID()}`);
  mkdirSync(folder);
  for (const limit of limits) writeFileSync(join(folder, limit), String(bytes));
  return {
    launcher: ["sh", "-c", 'echo $$ >"$0" && exec "$@"', join(folder, "cgroup.procs")],
    peak: () => peaks.reduce((sum, peak) => sum + Number(readFileSync(join(folder, peak), "utf8")), 0),
    async close() {
      await until("the cgroup is empty", () => {
        rmdirSync(folder);
        return true;
      });
    },
  };
}
