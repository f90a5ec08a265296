import { copyFile, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import type { Report } from "../oracle/report.ts";
import { processesOf, type World } from "./world.ts";

/** What shows whose fault a violation is, and holds no secret and no digest of one. */
const TABLES = {
  "audit-events": sql`select a.*, k.namespace, k.name, k.owner_uid
    from audit_events a left join keys k on k.id = a.key_id order by a.id`,
  changes: sql`select * from changes order by seq`,
  keys: sql`select * from keys order by namespace, name, created_at`,
  "key-versions": sql`select key_id, number, prefix, state, source_kind, minted_at, activated_at, retire_at, expires_at,
    rotation_trigger from key_versions order by key_id, number`,
};

/**
 * Keeps what the run leaves behind: its story, the API server's audit log, the store's account and what every process
 * printed.
 *
 * @returns the folder
 */
export async function keepEvidence(world: World, report: Report): Promise<string> {
  const { kubernetes, store } = world;
  const folder = await mkdtemp(join(tmpdir(), "keyplane-chaos-"));
  const keep = (name: string, lines: readonly string[]) => writeFile(join(folder, name), `${lines.join("\n")}\n`);
  await keep("story.log", report.story);
  for (const { name, lines } of processesOf(world)) await keep(`${name}.log`, lines);
  if (kubernetes.auditLog !== undefined) await copyFile(kubernetes.auditLog, join(folder, "audit.log"));
  for (const [name, question] of Object.entries(TABLES)) {
    const { rows } = await question.execute(store.db);
    await keep(
      `${name}.jsonl`,
      rows.map((row) => JSON.stringify(row)),
    );
  }
  return folder;
}
