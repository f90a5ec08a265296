/** What a server of the version before makes of keys that are restricted in ways of which it knows nothing, and of atoms with a subject: its own code asks. */
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authorize } from "../../../../domain/access/authorize.ts";
import type { SubjectRule } from "../../../../domain/access/subject.ts";
import { findAtoms } from "../../../../memory/store/rows/atoms.ts";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { RECORD_COLUMNS, type RecordRow, recordOfRow } from "../../../../store/keys/rows/key-records.ts";
import { saveLibrary } from "../../../../store/libraries/libraries.ts";
import { findLibraryById, openLibrary } from "../../../../store/libraries/reachable-libraries.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { takeOutSources, type Version } from "../../../env/database/previous-version.ts";
import { PLAIN } from "../../../memory/store/plain-atom.ts";
import { libraryDraft, makeTeam, NOW, policyOf, reserveKey, run, unique } from "../../fixtures.ts";

const HERE = { authorize, recordOfRow, RECORD_COLUMNS, findAtoms, findLibraryById };
let version: Version;
let older: typeof HERE;
beforeAll(async () => {
  version = await takeOutSources(["domain", "store", "runtime"]);
  const files = ["domain/access/authorize.ts", "store/keys/key-records.ts", "memory/store/atoms.ts"];
  const code = [...files, "memory/store/reachable-libraries.ts"].map((file) => import(join(version.root, file)));
  older = Object.assign({}, ...(await Promise.all(code)));
});
afterAll(() => version.remove());

describeNightlyOnEachEngine("A server of an earlier build", (store) => {
  async function decisionOf(code: typeof HERE, keyId: string) {
    const { rows } = await sql<RecordRow>`select ${sql.raw(code.RECORD_COLUMNS)} from key_records
      where key_id = ${keyId}`.execute(store().db);
    const [row] = rows;
    if (row === undefined) throw new Error("the view has the key");
    return code.authorize(code.recordOfRow(row), { product: "memory", operation: "atoms.list" }, NOW, {
      ip: "203.0.113.7",
    });
  }

  test.each<[SubjectRule | null, boolean]>([
    [null, true],
    [{ mode: "Required" }, false],
    [{ mode: "Bound", subject: "ana" }, false],
  ])("b120: is shown a key of the rule %j so that it lets it in: %s", async (subject, isLetIn) => {
    const { key } = await reserveKey(store(), await makeTeam(store()), { policy: policyOf({ subject }) });
    expect(await decisionOf(HERE, key.id)).toBeUndefined();
    const denial = isLetIn ? undefined : { code: "unauthorized", cause: "revoked" };
    expect(await decisionOf(older, key.id)).toEqual(denial);
  });

  test.each([
    [null, null, true],
    [["203.0.113.0/24"], null, false],
    [null, ["203.0.113.0/24"], false],
  ])(
    "b122: is shown a key of the networks %j and its team's %j so that it lets it in: %s",
    async (own, teams, isLetIn) => {
      const home = await makeTeam(store(), { allowedCIDRs: teams });
      const { key } = await reserveKey(store(), home, { policy: policyOf({ allowedCIDRs: own }) });
      expect(await decisionOf(HERE, key.id)).toBeUndefined();
      const denial = isLetIn ? undefined : { code: "unauthorized", cause: "revoked" };
      expect(await decisionOf(older, key.id)).toEqual(denial);
    },
  );

  test("b124: is shown a key of a team with limits so that it lets it in, by the key's own limits alone", async () => {
    const limits = { rate: { requestsPerMinute: 1, burst: 1, scope: "Installation" as const }, concurrent: 1 };
    const { key } = await reserveKey(store(), await makeTeam(store(), { limits }));
    expect(await decisionOf(HERE, key.id)).toBeUndefined();
    expect(await decisionOf(older, key.id)).toBeUndefined();
  });

  test("finds no atom of any subject, and no library in what a subject has of one", async () => {
    const { db } = store();
    const home = await makeTeam(store());
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(home)));
    const whole = { teamId: home.teamId, libraryIds: null };
    const ana = { ...whole, subject: unique("ana") };
    const into = (await openLibrary(db, ana, libraryId)) ?? "";
    const saved = await insertAtom(db, ana, { ...PLAIN, libraryId: into, at: NOW });
    const ids = [saved?.id ?? ""];
    expect(await findAtoms(db, ana, ids)).toHaveLength(1);
    for (const libraryIds of [null, [libraryId], [into]]) {
      expect(await older.findAtoms(db, { ...whole, libraryIds }, ids)).toEqual([]);
    }
    expect(await older.findLibraryById(db, whole, into)).toBeUndefined();
    expect(await older.findLibraryById(db, whole, libraryId)).toMatchObject({ id: libraryId });
  });
});
