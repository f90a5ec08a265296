import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { ROOT } from "../architecture/sources.ts";
import { until } from "../env/until.ts";
import { key, team } from "./up.ts";

const MAIN = join(ROOT, "cli/main.ts");
/** Root may write everywhere: what is closed is closed to somebody else. */
const isRoot = process.getuid?.() === 0;
const NOBODY = isRoot ? { uid: 65_534, gid: 65_534 } : undefined;
const canMount = isRoot && spawnSync("unshare", ["--mount", "true"]).status === 0;
if (!canMount && process.env.CI === "true") throw new Error("the right to mount a disk is needed");

let folder: string;
beforeEach(() => {
  // Where everybody may come: /tmp may be closed to others.
  folder = mkdtempSync("/tmp/keyplane-folders-");
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "manifests"));
  writeFileSync(join(folder, "manifests/all.yaml"), team("team-a", "dev") + key("agent"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** `keyplane up` in the test's folder. */
function up(data: string, { port = "0", adminPort = "0", user = {} }: UpOptions = {}) {
  const args = ["up", "--manifests", "manifests", "--data", data, "--port", port, "--admin-port", adminPort];
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env: {}, ...user });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const ended = once(child, "close").then(([code]) => code);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, ended, output: () => output };
}
type UpOptions = { readonly port?: string; readonly adminPort?: string; readonly user?: object | undefined };

function mount(...args: string[]): void {
  execFileSync("mount", args);
}

/** Waits until it serves, with its key delivered, and ends it. */
async function expectToServe(data: string): Promise<void> {
  const serving = up(data);
  await until(`it serves on ${data}`, () => {
    if (serving.child.exitCode !== null) throw new Error(serving.output());
    return /^dev +agent +True/m.test(serving.output());
  });
  serving.child.kill("SIGTERM");
  expect(await serving.ended).toBe(0);
}

/** That it ends by itself, with nothing but one line to standard error. */
async function expectRefusal({ ended, output }: ReturnType<typeof up>, says: RegExp): Promise<void> {
  expect([await ended, output()]).toEqual([1, expect.stringMatching(says)]);
  expect(output().trimEnd().split("\n")).toHaveLength(1);
}

for (const data of ["d", "z/deep", "./here/", "a space/and 'quotes'"]) {
  test(`c62: up serves on --data "${data}"`, async () => {
    await expectToServe(data);
    expect(existsSync(join(folder, data, "secrets/dev/agent/api-key"))).toBe(true);
  });
}

for (const [what, data] of [
  ["where no folder can be made", "new"],
  ["that cannot be written", "."],
] as const) {
  test(`c62: up on a folder ${what} says so and ends`, async () => {
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o755 });
    if (NOBODY === undefined) chmodSync(closed, 0o555);
    await expectRefusal(
      up(join(closed, data), { user: NOBODY }),
      /^keyplane: .*closed.*: see (whose it is|that this user)/,
    );
  });
}

/** Room for less and less of what a first start writes: a file, the database, its schema. */
for (const size of ["4k", "20m", "39m"]) {
  test.skipIf(!canMount)(
    `c62: up on a disk of ${size} says that it is full, and serves once there is room`,
    async () => {
      const disk = join(folder, "disk");
      mkdirSync(disk);
      mount("-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk);
      onTestFinished(() => void spawnSync("umount", [disk]));
      await expectRefusal(up("disk/data"), /^keyplane: .*(No space left on device|no room).*: make room there/i);
      mount("-o", "remount,size=200m", disk);
      await expectToServe("disk/data");
    },
  );
}

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
    await expectRefusal(
      up("d", { [flag]: port }),
      new RegExp(`^keyplane: .*EADDRINUSE.*:${port}: choose another with`),
    );
    expect(existsSync(join(folder, "d/db"))).toBe(false);
  });
}

test("c62: up on a folder that another uses says at once for whom it waits, and ends with Ctrl-C", async () => {
  const first = up("d");
  await until("it serves", () => first.output().includes("ready http"));
  const second = up("d");
  const says = `another keyplane process is using d (pid ${first.child.pid} on ${hostname()}): waiting up to 15 s`;
  await until("it says that it waits", () => second.output().includes(says));
  second.child.kill("SIGINT");
  expect([await second.ended, second.output()]).toEqual([0, expect.stringMatching(/^stopping.*\nstopped$/m)]);
  first.child.kill("SIGTERM");
  expect(await first.ended).toBe(0);
});

/** What a first start makes is when it is killed: at the first of these every time, at the others nightly. */
const TELLING = ["encryption-key", "db.new/PG_VERSION", "db/postmaster.pid", "secrets/dev/agent/api-key"];
const OTHERS = ["objects", "lock", "cluster-id", "secrets", "bootstrap-token", "db.new", "db", "server.json"];
const MOMENTS = process.env.KEYPLANE_NIGHTLY === undefined ? TELLING : [...TELLING, ...OTHERS];

for (const moment of MOMENTS) {
  test(`c62: up that was killed at its first start, as ${moment} appeared, starts again`, async () => {
    const killed = up("d");
    // Without a pause: some moments are over in a millisecond.
    while (!existsSync(join(folder, "d", moment)) && killed.child.exitCode === null) await setImmediate();
    killed.child.kill("SIGKILL");
    await killed.ended;
    await expectToServe("d");
    expect(readFileSync(join(folder, "d/secrets/dev/agent/api-key"), "utf8")).toMatch(/^inf_/);
  });
}
