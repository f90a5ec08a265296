import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { runUp } from "../../../cli/up/up.ts";
import { DatabaseUnavailableError } from "../../../store/database/errors.ts";
import { copyEmbedded } from "../../env/database/embedded-database.ts";
import { until } from "../../env/until.ts";

test("keyplane up ends, with the reason, when its database has ended by itself", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-up-"));
  const manifests = join(folder, "manifests");
  await mkdir(manifests);
  await copyEmbedded(join(folder, "data/db"));
  const started = once(process, "worker");
  const lines: string[] = [];
  const flags = { manifests, data: join(folder, "data"), port: "0", adminPort: "0" };
  const ended = runUp(
    flags,
    { env: {}, out: (line) => void lines.push(line), terminal: { hasColours: false } },
    new AbortController().signal,
  ).catch((e: unknown) => e);
  const [database] = await started;
  await until("it serves", () => lines.some((line) => line.startsWith("ready ")));
  expect(lines.slice(0, 2)).toEqual([
    `watching ${manifests}, with keys, Secrets and status in ${flags.data}; Ctrl-C or SIGTERM ends it`,
    "opening the database",
  ]);
  await until("it logs", () =>
    lines.some((line) => / warn {2}there are no manifests .*nothing is declared/.test(line)),
  );
  if (!(database instanceof Worker)) throw new Error("no thread was started");
  await database.terminate();
  expect(await ended).toBeInstanceOf(DatabaseUnavailableError);
  await rm(folder, { recursive: true, force: true });
});
