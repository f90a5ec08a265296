/** One `keyplane up`, started on a folder without a declaration, and what users do beside it until its database ends. */
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../env/until.ts";
import { keyplane, makeHome, startUp, type Up } from "../up.ts";
import { testConsoleLink } from "./console-link.ts";
import { testEnv } from "./env.ts";
import { testLeaksPage } from "./leaks-page.ts";
import { testManagementApiPage } from "./management-api-page.ts";
import { testManualCommands } from "./manual-commands.ts";
import { testServerDoctor } from "./server-doctor.ts";
import { testWait } from "./wait.ts";

const home = makeHome();
const data = ["--data", home.data];
let up: Up;
let database: unknown;

beforeAll(async () => {
  const started = once(process, "worker");
  up = await startUp(home);
  [database] = await started;
});
afterAll(async () => {
  await up?.stop();
  home.remove();
});

describe("keyplane up on a folder without a declaration", () => {
  test("says what it does, and that nothing is declared", async () => {
    expect(up.output().split("\n").slice(0, 2)).toEqual([
      `watching ${home.manifests}, with keys, Secrets and status in ${home.data}; Ctrl-C or SIGTERM ends it`,
      "opening the database",
    ]);
    await until("it logs", () => / warn {2}there are no manifests .*nothing is declared/.test(up.output()));
  });

  test("runs, for what the management API makes", async () => {
    expect(await keyplane(["get", "keys", ...data])).toMatchObject({ code: 0, out: "there are none\n" });
  });
});

test("keyplane up on a file instead of a folder says what to name, and ends with 2", async () => {
  const other = makeHome();
  const file = join(other.manifests, "all.yaml");
  other.write("all.yaml", "");
  try {
    const { code, err } = await keyplane(["up", "--manifests", file, "--data", other.data]);
    expect([code, err]).toEqual([2, `keyplane: --manifests ${file}: that is a file: name the folder that it is in\n`]);
  } finally {
    other.remove();
  }
});

test("keyplane init writes what keyplane up serves as it is: its key works, its gateway is ready", async () => {
  const { code } = await keyplane(["init", join(home.manifests, "started"), "--team", "started"]);
  expect(code).toBe(0);
  await up.waitFor("started", "first-app", "Ready");
  expect(await up.call(up.secretOf("started", "first-app"))).toBe(200);
  await until("the gateway to be ready", async () => {
    const { out } = await keyplane(["get", "gateways", ...data]);
    return /^started +main +True +Ready/m.test(out);
  });
  const model = ["--gateway", "started-main", "--model", "fast-chat"];
  const canI = ["can-i", "gateway:generate", ...model, "--as-key", "started/first-app", ...data];
  expect((await keyplane(canI)).out).toMatch(/^yes: /);
});

const installation = { home, data, up: () => up };
testConsoleLink(installation);
testServerDoctor(installation);
testManagementApiPage(installation);
testLeaksPage(installation);
testEnv(installation);
testWait(installation);
testManualCommands(installation);

test("keyplane up ends, with the reason, when its database has ended by itself", async () => {
  if (!(database instanceof Worker)) throw new Error("no thread was started");
  await database.terminate();
  expect(await up.ended).toBe(1);
  expect(up.output()).toMatch(/^keyplane: .*database/m);
});
