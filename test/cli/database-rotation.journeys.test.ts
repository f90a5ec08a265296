/** `keyplane server` on a database whose password or address changes while it runs. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../env/database/engines.ts";
import { freePort } from "../env/free-port.ts";
import { startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { keyplane } from "./up.ts";

/** A migrated database of a role of its own, and a server whose settings are in files. */
async function openWorld() {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-rotation-"));
  const { url: adminUrl, drop } = await freshDatabase();
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const role = `rotating_${randomBytes(4).toString("hex")}`;
  const password = randomBytes(8).toString("hex");
  const database = new URL(adminUrl).pathname.slice(1);
  await admin.query(`create role ${role} login password '${password}'`);
  await admin.query(`alter database ${database} owner to ${role}`);
  /** Exchanges a file whole, as the kubelet does. */
  const save = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(`${file}.next`, text, { mode: 0o600 });
    renameSync(`${file}.next`, file);
    return file;
  };
  const urlOf = (user: string) => Object.assign(new URL(adminUrl), { username: user, password: "" }).href;
  const token = randomBytes(32).toString("base64url");
  const files = {
    KEYPLANE_DATABASE_URL_FILE: save("url", `${urlOf(role)}\n`),
    KEYPLANE_DATABASE_PASSWORD_FILE: save("password", `${password}\n`),
  };
  expect(await keyplane(["migrate"], files)).toMatchObject({ code: 0, err: "" });
  const adminPort = String(await freePort());
  const server = await startServing(
    ["server", "--port", "0", "--admin-port", adminPort, "--lease", "3s", "--workers", "2"],
    {
      ...files,
      KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
      KEYPLANE_BOOTSTRAP_TOKEN_FILE: save("token", token),
    },
  );
  const isReady = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).ok;
  const listing = async () =>
    (await fetch(`${server.url}/api/v1/keys`, { headers: { authorization: `Bearer ${token}` } })).status;
  return {
    ...{ admin, role, password, save, urlOf, isReady, listing },
    async close() {
      const code = await server.stop();
      await admin.query(`reassign owned by ${role} to current_user`);
      await admin.end();
      await drop();
      rmSync(folder, { recursive: true });
      expect(code, "the server ran on until it was asked to end").toBe(0);
      expect(server.lines.join("\n")).not.toContain(password);
    },
    async cutOff(user: string) {
      await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = $1", [user]);
    },
  };
}

let world: Awaited<ReturnType<typeof openWorld>>;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world?.close());

test("c74: a password that rotates is 503 while the file has the old one, and then taken by each thread of the same process", async () => {
  const { admin, role, password, save, isReady, listing, cutOff } = world;
  await until("it serves", async () => (await listing()) === 200);
  await admin.query(`alter role ${role} password '${password}2'`);
  await cutOff(role);
  await until("its lease ends", async () => !(await isReady()));
  expect(await listing()).toBe(503);
  save("password", `${password}2\n`);
  await until("it is ready", isReady);
  await until("every thread serves", async () =>
    (await Promise.all(Array.from({ length: 12 }, listing))).every((status) => status === 200),
  );
});

test("c74: a URL that names another user is followed by every connection that is made after it", async () => {
  const { admin, role, password, save, urlOf, isReady, listing, cutOff } = world;
  const next = `${role}_next`;
  await admin.query(`create role ${next} login password '${password}2' in role ${role}`);
  save("password", `${password}2\n`);
  save("url", urlOf(next));
  await until("it serves", async () => (await listing()) === 200);
  await admin.query(`alter role ${role} nologin`);
  await cutOff(role);
  await until("it connects as the other", async () => {
    const { rows } = await admin.query("select distinct usename from pg_stat_activity where usename like $1", [
      `${role}%`,
    ]);
    return rows.length === 1 && rows[0].usename === next && (await isReady()) && (await listing()) === 200;
  });
});
