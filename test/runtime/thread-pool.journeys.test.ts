import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../architecture/sources.ts";
import { COMPILE_CACHE } from "../env/compile-cache.ts";

test.skipIf(process.platform !== "linux")(
  "b101: a server has sixteen threads, eight of which look up names, unless the environment has another number",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "keyplane-threads-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const threadsWith = async (env: Record<string, string>) => {
      const args = ["up", "--manifests", folder, "--data", join(folder, "data"), "--port=0", "--admin-port=0"];
      const child = spawn(process.execPath, [join(ROOT, "cli/main.ts"), ...args], {
        env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "exit");
      try {
        // By then it has read and written files, which these threads do; what takes long is still to come.
        for await (const line of createInterface({ input: child.stdout })) if (line.includes("the database")) break;
        const tasks = `/proc/${child.pid}/task`;
        const names = await Promise.all(
          (await readdir(tasks)).map((task) => readFile(join(tasks, task, "comm"), "utf8")),
        );
        return names.filter((name) => name.startsWith("libuv-worker")).length;
      } finally {
        child.kill("SIGKILL");
        await ended;
      }
    };
    expect([await threadsWith({}), await threadsWith({ UV_THREADPOOL_SIZE: "5" })]).toEqual([16, 5]);
  },
);
