import { expect, test, vi } from "vitest";
import { keptDigest, ObjectOwners } from "../../../server/ownership/object-owners.ts";
import { openObjectOwners } from "../../../server/ownership/open-object-owners.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { ownersInMemory } from "./owners-in-memory.ts";

const UNUSED = { end: async () => {}, charge: async () => [], findCharged: async () => [] };
const R = keptDigest("openai", "response", "r");
const made = (id: string, teamId = "team-a") => ({
  ...{
    digest: keptDigest("openai", "response", id),
    origin: "https://a.test",
    teamId,
    parent: null,
    lastsMs: 3_600_000,
  },
});

test("the format and the kind are parts of what an id names", () => {
  const digests = [R, keptDigest("openai", "item", "r"), keptDigest("gemini", "response", "r")];
  expect(new Set(digests).size).toBe(3);
  expect(R).toHaveLength(32);
});

test("b372: what is not found is asked again each time, and what is found is known for five seconds, to its team alone", async () => {
  let now = 0;
  const { owners, database } = ownersInMemory(() => now);
  const originsOf = async (teamId: string) => (await owners.findOrigins(teamId, [R, R])).get(R);
  expect(await originsOf("team-a")).toEqual([]);
  await owners.record("team-a", [made("r")]);
  expect(await originsOf("team-b")).toEqual([]);
  expect(await originsOf("team-a")).toEqual(["https://a.test"]);
  const { questions } = database;
  expect(await originsOf("team-a")).toEqual(["https://a.test"]);
  expect(await originsOf("team-b")).toEqual([]);
  expect(database.questions).toBe(questions + 1);
  now = 5_001;
  await originsOf("team-a");
  expect(database.questions).toBe(questions + 2);
  await owners.end("team-a", made("r"));
  expect(await originsOf("team-a")).toEqual([]);
});

test("b417: what two teams have recorded is no team's from then on, and each of the calls knows it of its own", async () => {
  const { owners } = ownersInMemory();
  const [one, two] = [made("r"), made("s")];
  expect(await owners.record("team-a", [one, two])).toEqual([]);
  expect((await owners.findOrigins("team-a", [R])).get(R)).toEqual(["https://a.test"]);
  const theirs = [made("t", "team-b"), { ...one, teamId: "team-b" }];
  const others = [{ ...two, teamId: "team-c" }];
  const all = await Promise.all([owners.record("team-b", theirs), owners.record("team-c", others)]);
  expect(all).toEqual([[theirs[1]], others]);
  for (const teamId of ["team-a", "team-b"]) expect((await owners.findOrigins(teamId, [R])).get(R)).toEqual([]);
});

test("what calls have made at once is recorded by few statements, and each call knows of its own", async () => {
  const sizes: number[] = [];
  const owners = new ObjectOwners({
    record: async (all) => {
      sizes.push(all.length);
      await new Promise(setImmediate);
      return [];
    },
    find: async () => [],
    ...UNUSED,
    monotonic: () => 0,
  });
  await Promise.all(Array.from({ length: 40 }, (_, at) => owners.record("team-a", [made(`r${at}`)])));
  expect(sizes.length).toBeLessThan(10);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(40);
});

test("b373: what a call has made is recorded a hundred at a time, so that it holds up no other", async () => {
  const sizes: number[] = [];
  const record = async (all: readonly unknown[]) => {
    sizes.push(all.length);
    return [];
  };
  const owners = new ObjectOwners({ record, find: async () => [], ...UNUSED, monotonic: () => 0 });
  const many = Array.from({ length: 450 }, (_, at) => made(`r${at}`));
  await owners.record("team-a", many);
  expect(sizes).toEqual([100, 100, 100, 100, 50]);
});

test("b373: a call is refused where the database does not record, and where it does not answer", async () => {
  const { owners, database } = ownersInMemory();
  database.isAway = true;
  await expect(owners.record("team-a", [made("r")])).rejects.toThrow();
  await expect(owners.findOrigins("team-a", [R])).rejects.toThrow();
});

test("b404: a charge that the database notes late is counted, though its call was answered before", async () => {
  const noted = Promise.withResolvers<readonly boolean[]>();
  const owners = new ObjectOwners({
    ...{ ...UNUSED, record: async () => [], find: async () => [], monotonic: () => 0 },
    charge: () => noted.promise,
  });
  const onFirst = vi.fn();
  await expect(owners.charge("team-a", made("batch"), onFirst)).rejects.toThrow("no answer within");
  expect(onFirst).not.toHaveBeenCalled();
  noted.resolve([true]);
  await vi.waitFor(() => expect(onFirst).toHaveBeenCalledOnce());
});

describeOnEitherEngine("Owners that threads share", (store) => {
  test("b372: what one thread has recorded another finds at once, for its team alone", async () => {
    const [one, other] = [0, 1].map(() => openObjectOwners(store(), { monotonic: () => 0 }));
    const objects = Array.from({ length: 250 }, (_, at) => made(`of ${at}`));
    await one?.record("team-a", objects);
    const digests = objects.map(({ digest }) => digest);
    const found = await other?.findOrigins("team-a", digests);
    expect(digests.every((digest) => found?.get(digest)?.join() === "https://a.test")).toBe(true);
    const foreign = await other?.findOrigins("team-b", digests);
    expect(digests.every((digest) => foreign?.get(digest)?.length === 0)).toBe(true);
    await one?.end("team-b", made("of 0"));
    expect((await one?.findOrigins("team-a", digests.slice(0, 1)))?.get(digests[0] ?? "")).toEqual(["https://a.test"]);
  });

  test("b404: of two threads that charge an object at once one does, and each then finds it charged", async () => {
    const threads = [0, 1].map(() => openObjectOwners(store(), { monotonic: () => 0 }));
    const object = made("of a batch");
    await threads[0]?.record("team-a", [object]);
    expect(await threads[1]?.isCharged("team-a", object.digest)).toBe(false);
    const onFirst = vi.fn();
    await Promise.all(threads.flatMap((one) => [1, 2].map(() => one.charge("team-a", object, onFirst))));
    expect(onFirst).toHaveBeenCalledOnce();
    expect(await Promise.all(threads.map((one) => one.isCharged("team-a", object.digest)))).toEqual([true, true]);
  });
});
