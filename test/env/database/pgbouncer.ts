import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import pg from "pg";
import { freePort } from "../free-port.ts";
import { until } from "../until.ts";

/** Where PgBouncer is; undefined where it is not installed. `PGBOUNCER_BIN` names another. */
function findPgbouncer(): string | undefined {
  if (process.env.PGBOUNCER_BIN !== undefined) return process.env.PGBOUNCER_BIN;
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path));
}

/**
 * PgBouncer in front of a database on loopback, as it comes but for its mode.
 *
 * @param database its URL, with the user and password that the pooler logs in with
 */
export async function startPgbouncer(
  database: string,
  mode: "session" | "transaction",
): Promise<{ url: string; stop(): Promise<void> }> {
  const program = findPgbouncer();
  if (program === undefined) throw new Error("PgBouncer is not installed: apt-get install pgbouncer");
  const port = await freePort();
  const home = await mkdtemp(join(tmpdir(), "keyplane-pgbouncer-"));
  const direct = new URL(database);
  const name = direct.pathname.slice(1);
  const login = `user=${direct.username} password=${direct.password}`;
  await writeFile(
    join(home, "pgbouncer.ini"),
    `[databases]
${name} = host=${direct.hostname} port=${direct.port} dbname=${name} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
  );
  // It refuses to be root, and has to read its configuration as another user.
  await chmod(home, 0o755);
  const asOtherUser = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child: ChildProcess = spawn(program, ["-q", ...asOtherUser, join(home, "pgbouncer.ini")], { stdio: "ignore" });
  const url = Object.assign(new URL(database), { hostname: "127.0.0.1", port: String(port) }).href;
  await until("PgBouncer answers", async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.end();
    return true;
  });
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await until("PgBouncer ends", () => child.exitCode !== null || child.signalCode !== null);
      await rm(home, { recursive: true, force: true });
    },
  };
}
