import { execFile } from "node:child_process";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type OwnPostgresServer, startOwnPostgres } from "./postgres.ts";

/** A hot standby of a primary, which receives what is committed there. The primary is down while it is copied. */
export async function startStandby(primary: OwnPostgresServer): Promise<OwnPostgresServer> {
  const { hostname, port, username, password } = new URL(primary.url);
  const source = `host=${hostname} port=${port} user=${username} password=${password}`;
  await primary.kill();
  return startOwnPostgres({}, async (folder) => {
    // The server's own user owns the files.
    await promisify(execFile)("sh", ["-c", 'rm -rf "$1"/* && cp -a "$0"/. "$1"', primary.dataFolder, folder]);
    await writeFile(join(folder, "standby.signal"), "");
    await appendFile(join(folder, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
    await primary.restart();
  });
}
