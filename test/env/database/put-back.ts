import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { OwnPostgresServer } from "./postgres.ts";

/**
 * Puts the database back as it was before something happened.
 *
 * @param say says that the database is copied, and that it is restored
 */
export async function putBack(postgres: OwnPostgresServer, say: (line: string) => void, happens: () => Promise<void>) {
  const copy = `${postgres.dataFolder}.copy`;
  const run = promisify(execFile);
  try {
    await postgres.kill();
    // The server's own user owns the files.
    await run("cp", ["-a", postgres.dataFolder, copy]);
    await postgres.restart();
    say("the database is copied");
    await happens();
    await postgres.kill();
    await run("rm", ["-rf", postgres.dataFolder]);
    await run("cp", ["-a", copy, postgres.dataFolder]);
    await postgres.restart();
    say("the database is restored");
  } finally {
    await run("rm", ["-rf", copy]);
  }
}
