import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { change } from "../../../../store/database/change.ts";
import { openPGlite } from "../../../../store/database/pglite/pglite.ts";
import { saveTeam } from "../../../../store/teams/teams.ts";
import { makeDatabaseFolder } from "../../../env/database/database-folder.ts";
import { copyEmbedded } from "../../../env/database/embedded-database.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { readSnapshot, teamDraft } from "../../fixtures.ts";

test("the embedded database, killed in the middle of its writing, opens again, with all that was committed and no half of anything", async () => {
  const folder = makeDatabaseFolder("keyplane-pglite-");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const database = join(folder, "db");
  await copyEmbedded(database);
  for (const after of NIGHTLY ? [20, 45] : [20]) {
    const child = spawn(process.execPath, [join(import.meta.dirname, "pglite-writer.ts"), database], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let written = 0;
    for await (const line of createInterface(child.stdout)) {
      written = Number(line.split(" ")[1]);
      if (written === after) child.kill("SIGKILL");
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    expect(child.signalCode).toBe("SIGKILL");
    const store = await openPGlite(database);
    const { rows } = await sql<{ name: string; namespace: string | null }>`
      select t.name, n.namespace from teams t left join team_namespaces n on n.team_id = t.id`.execute(store.db);
    const numbers = rows.map(({ name }) => Number(name.split(" ")[1])).sort((a, b) => a - b);
    expect(numbers.length).toBeGreaterThanOrEqual(written);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    for (const { name, namespace } of rows) expect(namespace).toBe(name.replace("team ", "ns-"));
    const { head, teams } = await readSnapshot(store);
    expect(teams).toHaveLength(rows.length);
    const { rows: feed } = await sql<{ changes: number }>`select count(*)::int as changes from changes`.execute(
      store.db,
    );
    expect(feed).toEqual([{ changes: head }]);
    const { seq } = await change(store, null, (tx) => saveTeam(tx, teamDraft({ name: "team 0" })));
    expect(seq).toBe(head + 1);
    await sql`delete from team_namespaces`.execute(store.db);
    await sql`delete from teams`.execute(store.db);
    await sql`delete from changes`.execute(store.db);
    await sql`update feed set head = 0`.execute(store.db);
    await store.close();
  }
});
