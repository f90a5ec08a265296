import { expect, test } from "vitest";
import type { UsedLibrary } from "../../../../domain/access/used-library.ts";
import { advise, advisedSpec } from "../../../../domain/usage/advice/advise.ts";
import { adviseLibraries } from "../../../../domain/usage/advice/advise-libraries.ts";
import type { AdvicePoint, AdvisedSpec, KeyUse } from "../../../../domain/usage/advice/key-use.ts";
import { FROM, useOf } from "./uses.ts";

const used = (name: string, given: Partial<UsedLibrary> & { namespace?: string } = {}): UsedLibrary => ({
  ...{ library: { namespace: given.namespace ?? "research", name }, lastUsedOn: "2026-11-24" },
  ...given,
});
const gone = used("", { library: null });
const [notes, diary] = [used("notes"), used("diary")];
const elsewhere = used("ops", { namespace: "prod" });

/** What is advised for a key that called the memory. */
function pointFor(use: Partial<KeyUse>): AdvicePoint | undefined {
  return adviseLibraries(useOf(use, { "memory:read": 3 }), { change: {} })[0];
}
const restricted = (...libraryRefs: NonNullable<NonNullable<AdvisedSpec["libraryAccess"]>["libraryRefs"]>) => ({
  libraryAccess: { mode: "Restricted", libraryRefs },
});

test.each<[what: string, use: Partial<KeyUse>, change: object]>([
  ["those that were used", { libraries: [notes, diary] }, restricted({ name: "diary" }, { name: "notes" })],
  [
    "one of another namespace by both names",
    { libraries: [notes, elsewhere] },
    restricted({ name: "notes" }, { name: "ops", namespace: "prod" }),
  ],
  [
    "for a key without a namespace each by both names, but for one that has none either",
    { namespace: "", libraries: [notes, used("own", { namespace: "" })] },
    restricted({ name: "own" }, { name: "notes", namespace: "research" }),
  ],
  [
    "not those of more than 30 days ago",
    { libraries: [notes, used("old", { lastUsedOn: "2026-10-20" })] },
    restricted({ name: "notes" }),
  ],
  ["not those that it may not reach any more", { libraries: [notes, gone] }, restricted({ name: "notes" })],
  [
    "fewer of a list, written as they are there",
    {
      spec: {
        libraryAccess: {
          mode: "Restricted",
          libraryRefs: [{ name: "notes", namespace: "research" }, { name: "diary" }, { name: "not-made-yet" }],
        },
      },
      libraries: [notes],
      reachableLibraries: 2,
    },
    restricted({ name: "notes", namespace: "research" }),
  ],
  [
    "the default written as it is declared",
    { spec: { mcpDefaultLibraryRef: { name: "notes", namespace: "research" } }, libraries: [notes, diary] },
    restricted({ name: "diary" }, { name: "notes", namespace: "research" }),
  ],
  [
    "no default that was not used",
    { spec: { mcpDefaultLibraryRef: { name: "inbox" } }, libraries: [notes, diary] },
    { ...restricted({ name: "diary" }, { name: "notes" }), mcpDefaultLibraryRef: undefined },
  ],
  [
    "in place of such a default the only one that was",
    { spec: { mcpDefaultLibraryRef: { name: "inbox" } }, libraries: [notes] },
    { ...restricted({ name: "notes" }), mcpDefaultLibraryRef: { name: "notes" } },
  ],
  [
    "for a key of subjects the same, since a subject's part is of its library",
    { spec: { subjectAccess: { mode: "Required" } }, libraries: [notes] },
    restricted({ name: "notes" }),
  ],
])("of the libraries are advised %s", (_what, use, change) => {
  expect(pointFor(use)?.change).toEqual(change);
});

test.each<[what: string, use: Partial<KeyUse>, why: string]>([
  ["where they are known for a shorter time", { librariesSince: FROM + 1 }, "is known since 2026-10-26T00:00:00Z"],
  ["where none is known", { libraries: [] }, "No library is known that a call has read or written in."],
  ["where all were used", { reachableLibraries: 1 }, "The key may reach no other."],
  [
    "where those that were used are gone",
    { libraries: [gone, gone] },
    "It used 2 libraries that are gone, or that it may no longer reach.",
  ],
  [
    "where there may be more than are kept",
    { libraries: Array.from({ length: 64 }, (_, place) => used(`library-${place}`)), reachableLibraries: 100 },
    "64 libraries or more",
  ],
  ["where one cannot be named", { libraries: [notes, used("own", { namespace: "" })] }, "own has no namespace"],
])("no libraries are advised %s, and it says so", (_what, use, why) => {
  const point = pointFor({ libraries: [notes], ...use });
  expect(point?.change).toEqual({});
  expect(point?.why).toContain(why);
});

test("of a key that did not call the memory nothing is said of libraries", () => {
  const spec = { preset: "GatewayDefault", libraryAccess: { mode: "All" } } as const;
  const use = useOf({ spec, libraries: [notes] }, { "gateway:generate": 3 });
  expect(adviseLibraries(use, { change: {} })).toEqual([]);
  expect(adviseLibraries(use, { change: { preset: "MCPReadOnly" } })).toEqual([]);
  const bare = useOf({ spec: {} }, { "gateway:generate": 3 });
  expect(adviseLibraries(bare, { change: { scopes: ["gateway:generate"] } })).toEqual([]);
});

test("where no scope of the memory is advised, what a key may have with one alone goes", () => {
  const spec: AdvisedSpec = {
    scopes: ["gateway:generate", "memory:read"],
    libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "notes" }] },
    mcpDefaultLibraryRef: { name: "notes" },
  };
  const advice = advise(useOf({ spec }, { "gateway:generate": 3 }));
  const advised = advisedSpec(spec, advice);
  expect(advised).toMatchObject({ scopes: ["gateway:generate"] });
  for (const field of ["libraryAccess", "mcpDefaultLibraryRef"]) expect(advised).not.toHaveProperty(field);
  expect(advice.points.find(({ field }) => field === "libraryAccess")?.why).toContain(
    "a key has no libraryAccess, mcpDefaultLibraryRef.",
  );
});

test("the reason names the last day of each, and how many the key may reach", () => {
  const many = Array.from({ length: 12 }, (_, place) => used(`library-${place}`));
  const why = pointFor({ libraries: [elsewhere, ...many, gone], reachableLibraries: 40 })?.why;
  expect(why).toContain("Used: prod/ops last on 2026-11-24, library-0 last on 2026-11-24");
  expect(why).toContain(
    "library-8 last on 2026-11-24 and 3 more. It used a library that is gone, or that it may no longer reach.",
  );
  expect(why).toContain("The key may reach 40.");
});
