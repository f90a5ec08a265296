/** Every command as a process of its own, which ends with nothing left that it waits for. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CreatedDatabase } from "../env/database/databases.ts";
import { freshDatabase } from "../env/database/engines.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { key, keyplaneProcess, makeHome, startUp, team, tokenOf, type Up, upArgs } from "./up.ts";

const home = makeHome();
const DATA = ["--data", home.data];
const CLOSED_PORT = ["--server", "http://127.0.0.1:1"];
const TOKEN = { KEYPLANE_TOKEN: "kpt_wrong" };
let up: Up;
let database: CreatedDatabase;

beforeAll(async () => {
  home.write("all.yaml", team("research", "dev") + key("rotated") + key("revoked"));
  [up, database] = await Promise.all([startUp(home), freshDatabase()]);
  for (const name of ["rotated", "revoked"]) await up.waitFor("dev", name, "Ready");
  writeFileSync(join(home.data, "../wrong.yaml"), key("wrong", "preset: None"));
});
afterAll(async () => {
  await up?.stop();
  await database?.drop();
  home.remove();
});

type Case = readonly [code: number, args: () => readonly string[], env?: () => Record<string, string>];

const WRONG = join(home.data, "../wrong.yaml");
const onDatabase = () => ({
  KEYPLANE_DATABASE_URL: database.url,
  KEYPLANE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
});
/** What is asked while `up` serves the folder. */
const CASES: Readonly<Record<string, Case>> = {
  "keyplane --version": [0, () => ["--version"]],
  "keyplane plan": [0, () => ["plan", "-f", home.manifests, ...DATA]],
  "keyplane get without a server": [1, () => ["get", "keys", ...CLOSED_PORT], () => TOKEN],
  "keyplane revoke": [0, () => ["revoke", "dev/revoked", ...DATA]],
  "keyplane doctor of a database without a cluster": [1, () => ["doctor"], onDatabase],
  "keyplane server on a database that is not migrated": [1, () => ["server"], onDatabase],
  "keyplane controller without a cluster": [1, () => ["controller", "--kubeconfig", WRONG], onDatabase],
  "keyplane forget-encryption-key of a folder that another serves": [
    2,
    () => ["forget-encryption-key", "0123456789abcdef", ...DATA],
  ],
};
/** The ways out of these are those of others above, and of `migrate` below. */
const NIGHTLY_CASES: Readonly<Record<string, Case>> = {
  "keyplane validate": [0, () => ["validate", "-f", home.manifests]],
  "keyplane get of a server": [0, () => ["get", "keys", "--server", up.url], () => ({ KEYPLANE_TOKEN: tokenOf(home) })],
  "keyplane migrate --dry-run": [0, () => ["migrate", "--dry-run"], onDatabase],
  "keyplane rotate": [0, () => ["rotate", "dev/rotated", ...DATA]],
  "keyplane plan of what is wrong": [1, () => ["plan", "-f", WRONG]],
  "keyplane get of a folder": [0, () => ["get", "keys", ...DATA]],
  "keyplane revoke without a server": [1, () => ["revoke", "dev/revoked", ...CLOSED_PORT], () => TOKEN],
  "keyplane validate of what is wrong": [1, () => ["validate", "-f", WRONG]],
  "keyplane rotate of no key": [1, () => ["rotate", "dev/nowhere", ...DATA]],
  "keyplane rotate without a server": [1, () => ["rotate", "dev/rotated", ...CLOSED_PORT], () => TOKEN],
  "keyplane revoke of no key": [1, () => ["revoke", "dev/nowhere", ...DATA]],
};

describe.concurrent("ends by itself:", () => {
  for (const [what, [code, args, env = () => ({})]] of Object.entries({ ...CASES, ...(NIGHTLY && NIGHTLY_CASES) })) {
    test(what, async ({ expect }) => {
      const ended = await keyplaneProcess(args(), env());
      expect(ended, `${ended.out}${ended.err}`).toMatchObject({ code });
    });
  }
});

describe("ends by itself, afterwards:", () => {
  test("keyplane doctor of a folder", async () => {
    const ended = await keyplaneProcess(["doctor", ...DATA]);
    expect(ended).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^ok +declarations: 2 declarations are ready, 1 has ended$\n(.*\n)*nothing is wrong$/m,
      ),
    });
  });

  test("keyplane migrate", async () => {
    const args = ["migrate", "--database-url", database.url];
    expect(await keyplaneProcess(args)).toMatchObject({ code: 0, err: "" });
  });

  test("keyplane up without its encryption key", async () => {
    await up.stop();
    rmSync(join(home.data, "encryption-key"));
    const ended = await keyplaneProcess(upArgs(home));
    expect(ended, ended.out).toMatchObject({ code: 1, err: expect.stringContaining("encryption key") });
  });
});
