import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../../../store/database/change.ts";
import type { Store } from "../../../store/database/store.ts";
import { prune } from "../../../store/retention.ts";
import {
  beginSession,
  type EndedByIssuer,
  endSession,
  endSessionsOnce,
  findSession,
  type SignedIn,
} from "../../../store/sessions/sessions.ts";
import { addSignInLink, takeSignInLink } from "../../../store/sessions/sign-in-links.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";

const HOUR = 3_600_000;
const newDigest = () => randomBytes(32).toString("latin1");
const ANN = { issuer: "https://id.example", subject: "ann", groups: ["leads", "agents"] };

describeNightlyOnEachEngine("A session", (store) => {
  async function begin(fields: Partial<SignedIn> = {}, lifetimeMs = HOUR): Promise<string> {
    const digest = newDigest();
    const signedIn = { person: ANN, sid: null, displayName: "Ann", ...fields };
    await inTransaction(store(), (tx) => beginSession(tx, digest, signedIn, lifetimeMs));
    return digest;
  }
  const isThere = async (digest: string) => (await findSession(store().db, digest)) !== undefined;
  let serial = 0;
  const logOut = (ended: EndedByIssuer, jti = `jti-${++serial}`) =>
    inTransaction(store(), (tx) => endSessionsOnce(tx, { ...ended, jti, keptMs: HOUR }));

  test("is found by its digest alone, with whose it is and when it ends", async () => {
    const digest = await begin();
    const session = await findSession(store().db, digest);
    expect(session).toMatchObject({ person: ANN, displayName: "Ann" });
    expect(Math.abs((session?.expiresAt ?? 0) - Date.now() - HOUR)).toBeLessThan(HOUR / 2);
    expect(await isThere(newDigest())).toBe(false);
  });

  test("of a one-time link has no subject at an issuer", async () => {
    expect((await findSession(store().db, await begin({ person: null })))?.person).toBeNull();
  });

  test("is over once it is ended, and at its end", async () => {
    const digest = await begin();
    expect(await endSession(store().db, digest)).toBe(true);
    expect(await isThere(digest)).toBe(false);
    expect(await endSession(store().db, digest)).toBe(false);
    expect(await isThere(await begin({}, -1))).toBe(false);
  });

  test("is ended by its issuer alone: by subject, by sid, or by both of them", async () => {
    const first = await begin({ sid: "s1" });
    const second = await begin({ sid: "s2" });
    const other = await begin({ sid: "s1", person: { ...ANN, issuer: "https://other.example" } });
    const link = await begin({ person: null });
    expect(await logOut({ issuer: ANN.issuer, sid: "s1", subject: "bob" })).toBe(0);
    expect(await logOut({ issuer: ANN.issuer, sid: "s1" })).toBe(1);
    expect([await isThere(first), await isThere(second), await isThere(other)]).toEqual([false, true, true]);
    expect(await logOut({ issuer: ANN.issuer, subject: "ann" })).toBeGreaterThanOrEqual(1);
    expect([await isThere(second), await isThere(other), await isThere(link)]).toEqual([false, true, true]);
  });

  test("of which the issuer has named no sid is ended by a subject, whichever sid stands beside it", async () => {
    const [unnamed, other] = [await begin(), await begin({ sid: "s2" })];
    expect(await logOut({ issuer: ANN.issuer, subject: "ann", sid: "s1" })).toBeGreaterThanOrEqual(1);
    expect([await isThere(unnamed), await isThere(other)]).toEqual([false, true]);
    const kept = await begin();
    await logOut({ issuer: ANN.issuer, sid: "s1" });
    expect(await isThere(kept)).toBe(true);
  });

  test("is not ended by a logout token that was taken before, nor by one that names no subject", async () => {
    expect(await logOut({ issuer: ANN.issuer, subject: "ann" }, "once")).toBeTypeOf("number");
    const digest = await begin();
    expect(await logOut({ issuer: ANN.issuer, subject: "ann" }, "once")).toBeUndefined();
    await expect(logOut({ issuer: ANN.issuer })).rejects.toThrow(/names a subject/);
    expect(await isThere(digest)).toBe(true);
  });

  test("that is over is forgotten, with links and logout tokens that are over", async () => {
    const living = await begin();
    await prune(store(), HOUR);
    await begin({}, -1);
    await addSignInLink(store().db, newDigest(), -1);
    await inTransaction(store(), (tx) =>
      endSessionsOnce(tx, { issuer: "https://gone.example", subject: "ann", jti: "old", keptMs: -1 }),
    );
    expect((await prune(store(), HOUR)).signIns).toBe(3);
    expect(await isThere(living)).toBe(true);
  });
});

describeNightlyOnEachEngine("A one-time link", (store) => {
  const take = (digest: string) => inTransaction(store(), (tx) => takeSignInLink(tx, digest));

  test("is taken once, and by one of many at once", async () => {
    const digest = newDigest();
    await addSignInLink(store().db, digest, HOUR);
    const taken = await Promise.all([1, 2, 3, 4].map(() => take(digest)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await take(digest)).toBe(false);
  });

  test("is none after its end, and what was never one is none", async () => {
    const digest = newDigest();
    await addSignInLink(store().db, digest, -1);
    expect(await take(digest)).toBe(false);
    expect(await take(newDigest())).toBe(false);
  });

  test("is there still where what it was taken for has failed", async () => {
    const digest = newDigest();
    await addSignInLink(store().db, digest, HOUR);
    const failing = inTransaction(store(), async (tx) => {
      await takeSignInLink(tx, digest);
      await sql`select 1 / 0`.execute(tx);
    });
    await expect(failing).rejects.toThrow();
    expect(await take(digest)).toBe(true);
  });
});

function inTransaction<T>({ db }: Store, body: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(body);
}
