import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { SCHEMA_VERSION } from "../../store/database/migrate/migrate.ts";
import { openPGlite } from "../../store/database/pglite/pglite.ts";
import { copyEmbedded, keepCompiled } from "../env/database/embedded-database.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { expectToServe, makeFolder, type StartedUp, up } from "./data-folder.ts";
import { keyplane } from "./up.ts";

/** Root may write everywhere: what is closed is closed to another user. */
const isRoot = process.getuid?.() === 0;
const OTHER_USER = 65_534;

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

/** `up` on the folder `d`, or another, in this process: what it refuses before it serves takes no process of its own. */
function upHere({ port = "0", adminPort = "0", data = "d" } = {}) {
  const folders = ["--manifests", join(folder, "manifests"), "--data", join(folder, data)];
  return keyplane(["up", ...folders, "--port", port, "--admin-port", adminPort]);
}

/** Has this process be another user's meanwhile, where it is root's. */
async function asAnotherUser<T>(act: () => Promise<T>): Promise<T> {
  if (!isRoot) return act();
  process.setegid?.(OTHER_USER);
  process.seteuid?.(OTHER_USER);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

for (const [what, data] of [
  ["where no folder can be made", "new"],
  ["that cannot be written", "."],
] as const) {
  test(`c62: up on a folder ${what} says so and ends`, async () => {
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o755 });
    if (!isRoot) chmodSync(closed, 0o555);
    const { code, err } = await asAnotherUser(() => upHere({ data: join("closed", data) }));
    const says = /^keyplane: .*closed.*: see (who owns it|that this user).*\n$/;
    expect([code, err]).toEqual([1, expect.stringMatching(says)]);
  });
}

test.runIf(isRoot)("b326: up on a folder that another user made says whose it is, and ends", async () => {
  const data = join(folder, "d");
  mkdirSync(data, { mode: 0o777 });
  chmodSync(data, 0o777);
  writeFileSync(join(data, "bootstrap-token"), `kpt_${"planted0123456789".repeat(3)}`);
  chownSync(data, 54_321, 54_321);
  const says = /^keyplane: \S+\/d belongs to another user \(uid 54321\), .*: choose another --data.*\n$/;
  const { code, err } = await upHere();
  expect([code, err]).toEqual([1, expect.stringMatching(says)]);
  chownSync(data, 0, 0);
  const refused = await asAnotherUser(upHere);
  const saysWho = /^keyplane: \S+ can be written by others .* --data.*\n$/;
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(saysWho)]);
});

for (const [which, flag] of [
  ["public", "port"],
  ["admin", "adminPort"],
] as const) {
  test(`c62: up with ${which === "admin" ? "an" : "a"} ${which} port that another listens on says so before it makes a database`, async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const address = other.address();
    const port = String(typeof address === "object" ? address?.port : "");
    const { code, err } = await upHere({ [flag]: port });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^keyplane: .*EADDRINUSE.*:${port}: choose another with.*\n$`)),
    ]);
    expect(existsSync(join(folder, "d/db"))).toBe(false);
  });
}

test("c62: up on a folder of a version that is two later says so, and changes nothing", async () => {
  await keepCompiled();
  await copyEmbedded(join(folder, "d/db"));
  const store = await openPGlite(join(folder, "d/db"));
  await store.db
    .insertInto("schema_migrations")
    .values({ version: SCHEMA_VERSION + 2, name: "later" })
    .execute();
  await store.close();
  const { code, err } = await upHere();
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(
      /^keyplane: --data \S+\/d: the database's schema is version \d+, newer than .*use the newer keyplane\n$/,
    ),
  ]);
});

/** That another `up` on its folder says at once for whom it waits, and ends with Ctrl-C. */
async function expectAnotherToWait(first: StartedUp): Promise<void> {
  const second = up(folder, "d");
  const says = `another keyplane process is using d (pid ${first.child.pid} on ${hostname()}): waiting up to 15 s`;
  await until("it says that it waits", () => second.output().includes(says));
  second.child.kill("SIGINT");
  expect([await second.ended, second.output()]).toEqual([0, expect.stringMatching(/^stopping.*\nstopped$/m)]);
}

/**
 * What a first start makes is when it is killed: by day in the middle of making the database, at every
 * other moment nightly.
 */
const FIRST = "db.new/PG_VERSION";
const LAST = "secrets/dev/agent/api-key";
const OTHERS = [
  ...["lock", "db.new", "db", "db/postmaster.pid", "encryption-key", "cluster-id"],
  ...["objects", "secrets", "bootstrap-token", "server.json"],
];

/** Relative, of folders that are to be made: hard to quote, or without a slash, so that what is above it is ".". */
const HARD = "./deep/a space/and 'quotes'";
const dataAt = (moment: string) => (moment === FIRST ? "d" : HARD);

for (const moment of NIGHTLY ? [FIRST, ...OTHERS, LAST] : [FIRST]) {
  const name = dataAt(moment);
  test(`c62: up on --data "${name}" that was killed at its first start, as ${moment} appeared, serves once it is started again${moment === FIRST ? ", and another on it says at once for whom it waits" : ""}`, async () => {
    const data = join(folder, name);
    const killed = up(folder, name);
    const file = join(data, moment);
    // Without a pause once it can appear: some moments are over in a millisecond.
    while (!existsSync(file) && killed.child.exitCode === null) {
      await (existsSync(dirname(file)) ? setImmediate() : delay(1));
    }
    killed.child.kill("SIGKILL");
    await killed.ended;
    await expectToServe(folder, name, moment === FIRST ? expectAnotherToWait : undefined);
    expect(readFileSync(join(data, "secrets/dev/agent/api-key"), "utf8")).toMatch(/^inf_/);
    expect(statSync(join(data, "db")).mode & 0o777).toBe(0o700);
  });
}
