import { sql } from "kysely";
import { expect, test } from "vitest";
import { appendAudit } from "../../../store/audit/audit.ts";
import { type AuditMark, readAuditFeed, UnknownAuditMarkError } from "../../../store/audit/audit-feed.ts";
import { advanceAuditOutput, releaseAuditOutput, takeAuditOutput } from "../../../store/audit/audit-output.ts";
import { countRefusals } from "../../../store/audit/refusals.ts";
import type { Db } from "../../../store/database/change.ts";
import { prune } from "../../../store/retention.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { unique } from "../fixtures.ts";

const BEGIN: AuditMark = { seq: 0, mark: null };
const DAY_MS = 24 * 3_600_000;

const append = (db: Db, kind: string, teamId: string | null = null, at: number | null = null) =>
  appendAudit(db, [{ at, kind, teamId, detail: { name: kind } }]);

/** All that the feed has from there on, by pages, and where it ends. */
async function readOn(db: Db, from: AuditMark, limit = 200, teamIds?: readonly string[]) {
  const kinds: string[] = [];
  let at = from;
  for (;;) {
    const { events, next } = await readAuditFeed(db, at, limit, teamIds);
    kinds.push(...events.map(({ kind }) => kind));
    if (next.seq === at.seq) return { kinds, at };
    at = next;
  }
}

describeNightlyOnEachEngine("the feed of the audit log", (store) => {
  test("has every event once, from the oldest on, in pages of any length", async () => {
    const { db } = store();
    const { at } = await readOn(db, BEGIN);
    const kinds = Array.from({ length: 7 }, (_, i) => unique(`test.${i}`));
    for (const kind of kinds) await append(db, kind);
    for (const limit of [1, 3, 7, 200]) expect((await readOn(db, at, limit)).kinds).toEqual(kinds);
  });

  test("has a team's events alone, however many there are between them", async () => {
    const { db } = store();
    const { at } = await readOn(db, BEGIN);
    const team = unique("team");
    for (const of of [team, null, "other", team]) await append(db, unique("test"), of);
    expect((await readOn(db, at, 1, [team])).kinds).toHaveLength(2);
    const passed = await readAuditFeed(db, at, 10, ["none"]);
    expect([passed.events, (await readOn(db, passed.next)).kinds]).toEqual([[], []]);
  });

  test("has an event once more, under its id, where its count was completed", async () => {
    const { db } = store();
    const kind = unique("test");
    await append(db, kind);
    const { at } = await readOn(db, BEGIN);
    const { id } = await db.selectFrom("audit_events").select("id").where("kind", "=", kind).executeTakeFirstOrThrow();
    await countRefusals(store(), [{ id, count: 12 }]);
    const { events } = await readAuditFeed(db, at, 10);
    expect(events).toMatchObject([{ id, kind, detail: { count: 12 } }]);
  });

  test("knows a place whose event was forgotten, and forgets the place", async () => {
    const { db } = store();
    const { at } = await readOn(db, BEGIN);
    await append(db, unique("old"), null, Date.now() - DAY_MS);
    const { next } = await readAuditFeed(db, at, 10);
    await prune(store(), DAY_MS / 2);
    const kind = unique("test");
    await append(db, kind);
    expect((await readOn(db, next)).kinds).toEqual([kind]);
  });

  test("refuses a place that a database which was put back in time does not have, or has for another event", async () => {
    const { db } = store();
    await append(db, unique("test"));
    const { at } = await readOn(db, BEGIN);
    await expect(readAuditFeed(db, { seq: at.seq + 1, mark: 1 }, 10)).rejects.toThrow(UnknownAuditMarkError);
    const other = { ...at, mark: (at.mark ?? 0) + 1 };
    await expect(readAuditFeed(db, other, 10)).rejects.toThrow(UnknownAuditMarkError);
  });

  test("is put out by one server at a time, which another follows where it ended", async () => {
    const { db } = store();
    expect(await takeAuditOutput(db, "a")).toMatchObject({ seq: 0 });
    expect(await takeAuditOutput(db, "b")).toBeNull();
    await advanceAuditOutput(db, "b", 9);
    await advanceAuditOutput(db, "a", 5);
    expect(await takeAuditOutput(db, "a")).toMatchObject({ seq: 5 });
    await releaseAuditOutput(db, "a");
    expect(await takeAuditOutput(db, "b")).toMatchObject({ seq: 5 });
    await sql`update audit_outputs set held_until = clock_timestamp() - interval '1 second'`.execute(db);
    expect(await takeAuditOutput(db, "a")).toMatchObject({ seq: 5 });
  });
});

describeOnPostgres("the feed of the audit log, with several writers", (store) => {
  test("passes no event that is committed late", async () => {
    const { db } = store();
    const [early, late] = [unique("early"), unique("late")];
    const begun = await readOn(db, BEGIN);
    const [isWritten, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = db.transaction().execute(async (tx) => {
      await append(tx, late);
      isWritten.resolve();
      await mayCommit.promise;
    });
    await isWritten.promise;
    await append(db, early);
    const first = await readOn(db, begun.at);
    mayCommit.resolve();
    await slow;
    const second = await readOn(db, first.at);
    expect([first.kinds, second.kinds]).toEqual([[early], [late]]);
    const ids = await db.selectFrom("audit_events").select(["id", "kind"]).where("kind", "in", [early, late]).execute();
    const idOf = (kind: string) => ids.find((row) => row.kind === kind)?.id ?? 0;
    // By their ids, the late one would have been passed.
    expect(idOf(late)).toBeLessThan(idOf(early));
  });
});
