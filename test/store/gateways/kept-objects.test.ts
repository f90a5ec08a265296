import { sql } from "kysely";
import { expect, test } from "vitest";
import { toDigest } from "../../../store/database/digest.ts";
import {
  chargeOnce,
  endKeptObject,
  findCharged,
  findOwnedOrigins,
  type MadeObject,
  recordOwners,
} from "../../../store/gateways/kept-objects.ts";
import { prune } from "../../../store/retention.ts";
import { describeNightlyOnEachEngine, describeOnEitherEngine } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";

const DAY = 24 * 3_600_000;
let serial = 0;

/** An object that no other test has. */
function made(fields: Partial<MadeObject> = {}): MadeObject {
  const digest = String(++serial).padStart(32, "\u00ff");
  return { digest, origin: "https://a.test", teamId: "team_a", parent: null, lastsMs: 35 * DAY, ...fields };
}

describeNightlyOnEachEngine("What an upstream keeps", (store) => {
  const ownedBy = async (teamId: string, ...objects: readonly MadeObject[]) =>
    (
      await findOwnedOrigins(
        store().db,
        objects.map(({ digest }) => ({ teamId, digest })),
      )
    ).map((origins) => origins.join());
  const ends = async ({ digest }: MadeObject) => {
    const rows = await store().db.selectFrom("kept_objects").select(["digest", "ends_at"]).execute();
    const end = rows.find((row) => Buffer.from(row.digest).equals(Buffer.from(digest, "latin1")))?.ends_at;
    return end && Math.round((end.getTime() - Date.now()) / DAY);
  };
  const rows = async () => (await store().db.selectFrom("kept_objects").select("digest").execute()).length;

  test("b372: is the team's that recorded it first, at its origin, and is no other team's", async () => {
    const [one, other] = [made(), made({ teamId: "team_b" })];
    await recordOwners(store().db, [other, one, one]);
    await recordOwners(store().db, [{ ...one, origin: "https://b.test" }]);
    expect(await ownedBy("team_a", made(), one, other)).toEqual(["", "https://a.test,https://b.test", ""]);
    expect(await ownedBy("team_b", one, other)).toEqual(["", "https://a.test"]);
  });

  test("b417: is no team's once two have recorded it, until both would have ended, and is said so each time", async () => {
    const [one, brief, lasting, gone] = [
      made(),
      made({ lastsMs: DAY }),
      made({ lastsMs: null }),
      made({ lastsMs: -1 }),
    ];
    const all = [one, brief, lasting, gone];
    const ofB = all.map((object) => ({ ...object, teamId: "team_b", lastsMs: 9 * DAY }));
    const record = async (objects: readonly MadeObject[]) =>
      (await recordOwners(store().db, objects)).map(({ digest, origin }) => [
        all.findIndex((object) => object.digest === digest),
        origin,
      ]);
    const twice = [0, 1, 2].map((at) => [at, "https://a.test"]);
    expect(await record(all)).toEqual([]);
    expect(await record(all)).toEqual([]);
    expect(await record([...ofB, made()])).toEqual(twice);
    expect(await ownedBy("team_a", ...all)).toEqual(["", "", "", ""]);
    expect(await ownedBy("team_b", ...all)).toEqual(["", "", "", "https://a.test"]);
    expect(await record(all.slice(0, 3))).toEqual(twice);
    expect(await record(ofB)).toEqual(twice);
    await endKeptObject(store().db, "team_a", one);
    expect(await record([one])).toEqual([[0, "https://a.test"]]);
    expect([await ends(one), await ends(brief), await ends(lasting)]).toEqual([35, 9, null]);
  });

  test("b417: is no team's if two record it by one statement", async () => {
    const one = made();
    const both = [one, { ...one, teamId: "team_b", lastsMs: null }];
    for (let round = 0; round < 2; round++) {
      expect(await recordOwners(store().db, both)).toEqual([{ digest: one.digest, origin: one.origin }]);
    }
    expect([await ownedBy("team_a", one), await ownedBy("team_b", one), await ends(one)]).toEqual([[""], [""], null]);
  });

  test("is no team's once it has ended, and may then be another team's", async () => {
    const [brief, deleted] = [made({ lastsMs: -1 }), made({ lastsMs: null })];
    await recordOwners(store().db, [brief, deleted]);
    await endKeptObject(store().db, "team_b", deleted);
    expect(await ownedBy("team_a", brief, deleted)).toEqual(["", "https://a.test"]);
    await endKeptObject(store().db, "team_a", deleted);
    expect(await ownedBy("team_a", brief, deleted)).toEqual(["", ""]);
    await recordOwners(store().db, [{ ...brief, teamId: "team_b", lastsMs: DAY }]);
    expect(await ownedBy("team_b", brief)).toEqual(["https://a.test"]);
  });

  test("lasts as long as its team recorded last, if that is longer", async () => {
    const [one, lasting] = [made({ lastsMs: 2 * DAY }), made({ lastsMs: null })];
    await recordOwners(store().db, [one, lasting]);
    await recordOwners(store().db, [
      { ...one, lastsMs: 9 * DAY },
      { ...lasting, lastsMs: DAY },
    ]);
    await recordOwners(store().db, [{ ...one, lastsMs: DAY }]);
    expect([await ends(one), await ends(lasting)]).toEqual([9, null]);
    await recordOwners(store().db, [{ ...one, lastsMs: null }]);
    expect(await ends(one)).toBe(null);
  });

  test("b404: is charged once, by its team, and anew once it has ended and is another", async () => {
    const [one, there] = [made({ lastsMs: null }), made()];
    const far = { ...one, origin: "https://b.test" };
    await recordOwners(store().db, [one, far, there]);
    const charge = (...objects: readonly MadeObject[]) => chargeOnce(store().db, objects);
    const foundOf = ({ digest }: MadeObject) =>
      findCharged(
        store().db,
        ["team_a", "team_b"].map((teamId) => ({ teamId, digest })),
      );
    expect(await foundOf(one)).toEqual([false, false]);
    expect(await charge({ ...one, teamId: "team_b" }, made())).toEqual([false, false]);
    const all = await Promise.all([charge(one, there, one), charge(one), charge(one)]);
    expect(all.flat().filter((isFirst) => isFirst)).toHaveLength(2);
    expect([await foundOf(one), await foundOf(there)]).toEqual([
      [false, false],
      [true, false],
    ]);
    expect(await charge(one, far)).toEqual([false, true]);
    expect(await foundOf(one)).toEqual([true, false]);
    await recordOwners(store().db, [{ ...there, lastsMs: 99 * DAY }]);
    expect(await charge(there)).toEqual([false]);
    await endKeptObject(store().db, "team_a", one);
    await recordOwners(store().db, [one]);
    expect(await charge(one)).toEqual([true]);
  });

  test("goes from the database after its end, a conversation with all that is in it", async () => {
    await prune(store(), 90 * DAY);
    const before = await rows();
    const conversation = made({ lastsMs: null });
    const inside = made({ lastsMs: null, parent: conversation.digest });
    const elsewhere = made({ lastsMs: null, parent: conversation.digest, origin: "https://b.test" });
    const living = made();
    await recordOwners(store().db, [conversation, inside, elsewhere, living, made({ lastsMs: -1 })]);
    expect((await prune(store(), 90 * DAY)).keptObjects).toBe(1);
    await endKeptObject(store().db, "team_a", conversation);
    expect((await prune(store(), 90 * DAY)).keptObjects).toBe(2);
    expect(await ownedBy("team_a", conversation, inside, elsewhere, living)).toEqual([
      ...["", "", "https://b.test", "https://a.test"],
    ]);
    expect(await rows()).toBe(before + 2);
  });
});

describeOnEitherEngine("Charges of what an upstream keeps", (store) => {
  test("b404: take their rows in one order, so that no two of them wait for each other", async () => {
    const [low, high] = [made(), made()];
    await recordOwners(store().db, [high]);
    await recordOwners(store().db, [low]);
    const locked = ({ digest }: MadeObject) =>
      sql`select from kept_objects where digest = ${toDigest(digest)} for update nowait`;
    const isHeld = Promise.withResolvers<void>();
    const charged = isHeld.promise.then(() => chargeOnce(store().db, [high, low]));
    await store()
      .db.transaction()
      .execute(async (other) => {
        await locked(low).execute(other);
        isHeld.resolve();
        const waits = sql`select from pg_locks where not granted`;
        await until("it waits for the first row", async () => (await waits.execute(other)).rows.length > 0);
        await locked(high).execute(other);
      });
    expect(await charged).toEqual([true, true]);
  });
});
