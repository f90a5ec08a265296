/** What this build makes of the next version's schema, which shows it what it does not know in states that it refuses. */
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { authorize } from "../../../../domain/access/authorize.ts";
import { findAtoms } from "../../../../memory/store/rows/atoms.ts";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { RECORD_COLUMNS, type RecordRow, recordOfRow } from "../../../../store/keys/rows/key-records.ts";
import { saveLibrary } from "../../../../store/libraries/libraries.ts";
import { findLibraryById } from "../../../../store/libraries/reachable-libraries.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { PLAIN } from "../../../memory/store/plain-atom.ts";
import { libraryDraft, makeTeam, NOW, policyOf, reserveKey, run } from "../../fixtures.ts";

async function openDatabase(): Promise<Store> {
  const { url, drop } = await migratedDatabase();
  const store = await openPostgres(url, { maxConnections: 3 });
  onTestFinished(async () => {
    await store.close();
    await drop();
  });
  return store;
}

/** Changes the schema as a version does that bounds keys to days: a bound key is active for its own servers alone. */
async function boundKeysToDays({ db }: Store): Promise<void> {
  await sql`alter table keys add column weekdays text[]`.execute(db);
  const { rows } = await sql<{ view: string }>`select pg_get_viewdef('key_records') as view`.execute(db);
  const [{ view } = { view: "" }] = rows;
  const first = /CASE(?=\s+WHEN[^\n]*'of_networks')/;
  const bound = view.replace(first, "$& WHEN k.state = 'active' AND k.weekdays IS NOT NULL THEN 'of_days'");
  expect(bound).not.toBe(view);
  await sql.raw(`create or replace view key_records as ${bound}`).execute(db);
}

async function denialOf({ db }: Store, keyId: string) {
  const { rows } = await sql<RecordRow>`select ${sql.raw(RECORD_COLUMNS)} from key_records
    where key_id = ${keyId}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the view has the key");
  const request = { product: "memory", operation: "atoms.list" } as const;
  return authorize(recordOfRow(row), request, NOW, { ip: "203.0.113.7" });
}

test("c42: lets in no key that is restricted in a way that it does not know, whatever else restricts the key", async () => {
  const store = await openDatabase();
  const home = await makeTeam(store);
  const policies = [
    policyOf(),
    policyOf({ subject: { mode: "Bound", subject: "ana" } }),
    policyOf({ allowedCIDRs: ["203.0.113.0/24"] }),
  ];
  const keyIds: string[] = [];
  for (const [n, policy] of policies.entries()) {
    keyIds.push((await reserveKey(store, home, { policy, digest: `${n}`.repeat(32) })).key.id);
  }
  await boundKeysToDays(store);
  for (const keyId of keyIds) expect(await denialOf(store, keyId)).toBeUndefined();
  await sql`update keys set weekdays = '{Mon}'`.execute(store.db);
  for (const keyId of keyIds) {
    expect(await denialOf(store, keyId)).toEqual({ code: "unauthorized", cause: "revoked" });
  }
});

test("c42: finds no atom and no library in a state that it does not know", async () => {
  const store = await openDatabase();
  const home = await makeTeam(store);
  const { libraryId } = await run(store, (tx) => saveLibrary(tx, libraryDraft(home)));
  const reach = { teamId: home.teamId, libraryIds: null };
  const saved = await insertAtom(store.db, reach, { ...PLAIN, libraryId, at: NOW });
  const ids = [saved?.id ?? ""];
  expect(await findAtoms(store.db, reach, ids)).toHaveLength(1);
  await sql`update libraries set state = 'of_days' where id = ${libraryId}`.execute(store.db);
  for (const libraryIds of [null, [libraryId]]) {
    expect(await findAtoms(store.db, { ...reach, libraryIds }, ids)).toEqual([]);
    expect(await findLibraryById(store.db, { ...reach, libraryIds }, libraryId)).toBeUndefined();
  }
});
