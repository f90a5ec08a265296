import { expect, test } from "vitest";
import { type LibraryDraft, removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import { findActiveObject } from "../../../store/objects/objects.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { libraryDraft, makeTeam, run, unique } from "../fixtures.ts";

describeNightlyOnEachEngine("A library", (store) => {
  const save = (draft: LibraryDraft) => run(store(), (tx) => saveLibrary(tx, draft));
  const remove = (draft: LibraryDraft, policy: "Retain" | "Delete") =>
    run(store(), (tx) => removeLibrary(tx, { ...draft, policy }));
  const find = (draft: LibraryDraft, teamId = draft.teamId) =>
    findActiveObject(store().db, "library", { ...draft, teamId });

  test("is found by its name within its team, and in no other", async () => {
    const draft = libraryDraft(await makeTeam(store()));
    const { libraryId } = await save(draft);
    expect(await save({ ...draft, displayName: "Other", description: "d" })).toEqual({ libraryId });
    expect(await find(draft)).toEqual({ id: libraryId });
    expect(await find(draft, (await makeTeam(store())).teamId)).toBeUndefined();
    expect(await find({ ...draft, cluster: "c2" })).toBeUndefined();
  });

  test("deleted with Retain is out of reach, and taken up again by the same name in the same team", async () => {
    const draft = libraryDraft(await makeTeam(store()));
    const { libraryId } = await save(draft);
    await remove(draft, "Retain");
    expect(await find(draft)).toBeUndefined();
    expect(await save({ ...draft, ownerUid: "another incarnation" })).toEqual({ libraryId });
    expect(await find(draft)).toEqual({ id: libraryId });
    const row = await store().db.selectFrom("libraries").selectAll().where("id", "=", libraryId).executeTakeFirst();
    expect(row?.owner_uid).toBe("another incarnation");
  });

  test("deleted with Delete is gone; the same name begins an empty one", async () => {
    const draft = libraryDraft(await makeTeam(store()));
    const { libraryId } = await save(draft);
    await store()
      .db.insertInto("libraries")
      .values({ ...(await rowOf(libraryId)), id: "lib_of_another", namespace: unique("ns") })
      .execute();
    await remove(draft, "Delete");
    expect((await save(draft)).libraryId).not.toBe(libraryId);
    expect(await rowOf("lib_of_another")).toMatchObject({ state: "active" });
  });

  test("that was declared again is not removed by the end of the declaration before, nor are its atoms", async () => {
    const draft = libraryDraft(await makeTeam(store()));
    const { libraryId } = await save(draft);
    await save({ ...draft, ownerUid: "the next incarnation" });
    for (const policy of ["Delete", "Retain"] as const) await remove(draft, policy);
    expect(await find(draft)).toEqual({ id: libraryId });
    await remove({ ...draft, ownerUid: "the next incarnation" }, "Delete");
    expect(await find(draft)).toBeUndefined();
  });

  test("of a namespace that another team gets is not handed on: the other begins an empty one", async () => {
    const home = await makeTeam(store());
    const draft = libraryDraft(home);
    const { libraryId } = await save(draft);
    const other = await makeTeam(store());
    const taken = await save({ ...draft, teamId: other.teamId });
    expect(taken.libraryId).not.toBe(libraryId);
    expect(await find(draft)).toBeUndefined();
    await remove({ ...draft, teamId: other.teamId }, "Delete");
    expect(await save(draft)).toEqual({ libraryId });
  });

  async function rowOf(id: string) {
    return store().db.selectFrom("libraries").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  }
});
