import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SHORT_LIVED } from "../env/compile-cache.ts";
import { copyEmbedded } from "../env/database/embedded-database.ts";
import { startServing } from "../env/serving.ts";

test.skipIf(process.platform !== "linux")(
  "b101: a server has sixteen threads, eight of which look up names, unless the environment has another number",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "keyplane-threads-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await copyEmbedded(join(folder, "data/db"));
    const threadsWith = async (env: Record<string, string>) => {
      const args = ["up", "--manifests", folder, "--data", join(folder, "data"), "--port=0"];
      const { child, stop } = await startServing(args, env, SHORT_LIVED);
      const tasks = `/proc/${child.pid}/task`;
      const names = await Promise.all(
        (await readdir(tasks)).map((task) => readFile(join(tasks, task, "comm"), "utf8")),
      );
      expect(await stop()).toBe(0);
      return names.filter((name) => name.startsWith("libuv-worker")).length;
    };
    expect([await threadsWith({}), await threadsWith({ UV_THREADPOOL_SIZE: "5" })]).toEqual([16, 5]);
  },
);
