import { sql } from "kysely";
import { expect, test } from "vitest";
import { NOTES_KEPT_DAYS } from "../../../../store/keys/uses/daily-notes.ts";
import { librariesKnownSince, librariesOfKey, recordLibraries } from "../../../../store/keys/uses/key-libraries.ts";
import { noteLostUses } from "../../../../store/keys/uses/lost-uses.ts";
import { removeLibrary, saveLibrary } from "../../../../store/libraries/libraries.ts";
import { prune } from "../../../../store/retention.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { HOUR, type Home, libraryDraft, makeTeam, policyOf, reserveKey, run, unique } from "../../fixtures.ts";

const DAY = 24 * HOUR;
/** A day that is so many days ago. */
const day = (ago: number) => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);

describeNightlyOnEachEngine("The libraries that a key has used", (store) => {
  const note = (keyId: string, ...libraries: readonly (readonly [libraryId: string, ago: number])[]) =>
    recordLibraries(
      store(),
      libraries.map(([libraryId, ago]) => ({ keyId, libraryId, day: day(ago) })),
    );
  /** The ids of what is known. */
  const known = async (keyId: string) => {
    const { rows } = await sql<{ seen: Record<string, string> }>`
      select seen from key_libraries_used where key_id = ${keyId}`.execute(store().db);
    return rows[0]?.seen ?? {};
  };
  /** A key that may reach all libraries of its team, or these alone. */
  const keyOf = async (home: Home, libraryIds: readonly string[] | null) =>
    (await reserveKey(store(), home, { policy: policyOf({ libraryIds }) })).key.id;
  const libraryOf = async (home: Home) => {
    const draft = libraryDraft(home);
    return { ...draft, ...(await run(store(), (tx) => saveLibrary(tx, draft))) };
  };

  test("are read by name with the last day of each, null for one that the key may not reach any more", async () => {
    const [home, other] = [await makeTeam(store()), await makeTeam(store())];
    const [notes, diary, ended] = [await libraryOf(home), await libraryOf(home), await libraryOf(home)];
    const foreign = await libraryOf(other);
    const [all, some] = [await keyOf(home, null), await keyOf(home, [notes.libraryId, ended.libraryId])];
    await run(store(), (tx) => removeLibrary(tx, { ...ended, policy: "Retain" }));
    const uses = [
      [notes.libraryId, 2],
      [diary.libraryId, 1],
      [ended.libraryId, 4],
      [foreign.libraryId, 5],
      ["lib_00000000000000000000", 6],
    ] as const;
    for (const key of [all, some]) await note(key, ...uses);
    await note(all, [notes.libraryId, 3], ["lib_old", NOTES_KEPT_DAYS + 2]);
    const used = (library: { namespace: string; name: string } | null, ago: number) => ({
      library: library && { namespace: library.namespace, name: library.name },
      lastUsedOn: day(ago),
    });
    expect(await librariesOfKey(store().db, all)).toEqual({
      used: [used(diary, 1), used(notes, 2), used(null, 4), used(null, 5), used(null, 6)],
      reachable: 2,
    });
    expect(await librariesOfKey(store().db, some)).toEqual({
      used: [used(null, 1), used(notes, 2), used(null, 4), used(null, 5), used(null, 6)],
      reachable: 1,
    });
    expect(await librariesOfKey(store().db, await keyOf(other, null))).toEqual({ used: [], reachable: 1 });
  });

  test("are the last 64, and none of more than 40 days ago", async () => {
    const [old, many] = [unique("key"), unique("key")];
    await note(old, ["lib_old", NOTES_KEPT_DAYS + 2]);
    await note(many, ...Array.from({ length: 80 }, (_, place) => [`lib_${place}`, 1] as const));
    await note(many, ["lib_last", 0]);
    expect(Object.keys(await known(many))).toHaveLength(64);
    expect(await known(many)).toMatchObject({ lib_last: day(0) });
    expect((await prune(store(), 90 * DAY)).libraries).toBeGreaterThan(0);
    expect((await prune(store(), 90 * DAY)).libraries).toBe(0);
    expect(await known(old)).toEqual({});
    expect(Object.keys(await known(many))).toHaveLength(64);
  });

  test("b172: are known since none were lost", async () => {
    const before = await librariesKnownSince(store().db);
    await noteLostUses(store());
    expect(await librariesKnownSince(store().db)).toBeGreaterThan(before);
  });
});
