import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import type { Store } from "../../store/database/store.ts";
import type { OwnPostgresServer } from "../env/database/postgres.ts";
import type { StartedKubernetes } from "../env/kubernetes.ts";
import { searchFor } from "./plaintext.ts";
import type { Report } from "./report.ts";

const OBJECTS = [
  "/apis/keyplane.dev/v1alpha1/platformkeys",
  "/apis/keyplane.dev/v1alpha1/platformteams",
  "/apis/events.k8s.io/v1/events",
  "/apis/apps/v1/deployments",
  "/apis/coordination.k8s.io/v1/leases",
];

/** Where the plaintext of a key may not be. */
export type LeakLocations = {
  /** What each process has printed. */
  readonly processes: readonly { readonly name: string; readonly lines: readonly string[] }[];
  readonly postgres: Pick<OwnPostgresServer, "log">;
  readonly kubernetes: Pick<StartedKubernetes, "request" | "auditLog">;
  readonly adminUrls: readonly string[];
  readonly store: Store;
};

/** Searches everything that is not a Secret for the secrets (I4, spec §6.7). */
export async function checkLeaks(locations: LeakLocations, values: Iterable<string>, report: Report): Promise<void> {
  const search = searchFor(values);
  const look = (where: string, text: string) => {
    const prefix = search.find(text);
    if (prefix !== undefined) report.violation({ rule: "I4", subject: prefix, what: `its plaintext is in ${where}` });
  };
  for (const { name, lines } of locations.processes) {
    for (const line of lines) look(`the log of ${name}`, line);
  }
  for (const line of locations.postgres.log) look("PostgreSQL's log", line);
  for (const path of OBJECTS) {
    const { body } = await locations.kubernetes.request("GET", path);
    look(path, JSON.stringify(body));
  }
  for (const url of locations.adminUrls) look(`${url}/metrics`, await (await fetch(`${url}/metrics`)).text());
  const { rows: tables } = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(locations.store.db);
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(
      locations.store.db,
    );
    for (const { row } of rows) look(`table ${name}`, row);
  }
  const { auditLog } = locations.kubernetes;
  if (auditLog === undefined) return;
  for await (const line of createInterface({ input: createReadStream(auditLog) })) look("the audit log", line);
}
