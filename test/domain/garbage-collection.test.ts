import { expect, test } from "vitest";
import {
  beginOrphanScan,
  exceedsDeletionLimit,
  judgeSuspect,
  lookUpAt,
  type OrphanCandidate,
  type OrphanScan,
  type Presence,
  type Suspect,
  type Suspects,
} from "../../domain/garbage-collection.ts";

const OLD = 20_000;
const some = (count: number, ageMs = OLD): OrphanCandidate[] =>
  Array.from({ length: count }, (_, i) => ({ id: `key-${i}`, ageMs }));

type ScanStep = { readonly at: number; readonly says: Presence | ((id: string) => Presence); readonly total?: number };

/** What a look ends and leaves, where each of its questions is put at once and answered at once. */
function endLook(look: OrphanScan<OrphanCandidate>, says: (id: string) => Presence, at: number, before: Suspects) {
  const ended: string[] = [];
  const left = new Map<string, Suspect>();
  const asked = new Set(look.ask.map(({ id }) => id));
  for (const { id } of look.suspects) {
    const presence = asked.has(id) ? says(id) : "unknown";
    const verdict = judgeSuspect(look, { presence, askedAt: at, answeredAt: at }, before.get(id));
    if (verdict.ends) ended.push(id);
    if (verdict.left !== undefined) left.set(id, verdict.left);
  }
  return { ended, left };
}

/** Looks one after the other at the same candidates: what each asked for, what it ended, and whether it was paused. */
function looking(candidates: readonly OrphanCandidate[], ...looks: readonly ScanStep[]) {
  let before: Suspects = new Map();
  return looks.map(({ at, says, total = 1_000 }) => {
    const look = beginOrphanScan(candidates, total, before);
    const { ended, left } = endLook(look, typeof says === "string" ? () => says : says, at, before);
    before = left;
    return { asked: look.ask.length, ended, isPaused: look.isPaused, left: left.size };
  });
}
const endedBy = (candidates: readonly OrphanCandidate[], ...looks: readonly ScanStep[]) =>
  looking(candidates, ...looks).map(({ ended }) => ended.length);

test("c48: what is gone ends at the second look that says so, 20 s after the first", () => {
  const candidates = some(2);
  expect(endedBy(candidates, { at: 0, says: "gone" }, { at: 20_000, says: "gone" })).toEqual([0, 2]);
  expect(looking(candidates, { at: 0, says: "gone" }, { at: 20_000, says: "gone" })[1]).toEqual({
    asked: 2,
    ended: ["key-0", "key-1"],
    isPaused: false,
    left: 0,
  });
});

test("c48: two looks that are less than 20 s apart end nothing", () => {
  const looks = [0, 1, 19_999].map((at) => ({ at, says: "gone" }) as const);
  expect(endedBy(some(1), ...looks)).toEqual([0, 0, 0]);
  expect(endedBy(some(1), ...looks, { at: 20_000, says: "gone" })).toEqual([0, 0, 0, 1]);
});

test("c48: an answer counts from when it came, and the one that confirms it from when it was asked for", () => {
  const look = { isPaused: false };
  const first = judgeSuspect(look, { presence: "gone", askedAt: 0, answeredAt: 5_000 }, undefined);
  expect(first).toEqual({ ends: false, left: { goneAt: 5_000 } });
  const confirmed = (askedAt: number) =>
    judgeSuspect(look, { presence: "gone", askedAt, answeredAt: 60_000 }, first.left).ends;
  expect([confirmed(24_999), confirmed(25_000)]).toEqual([false, true]);
});

test("c48: one look ends nothing, however long ago the candidate was missing already", () => {
  expect(endedBy(some(1, 1e9), { at: 0, says: "unknown" }, { at: 60_000, says: "gone" })).toEqual([0, 0]);
});

test("c48: an answer that says nothing ends nothing, however often, and delays no end that two others agree on", () => {
  const unknown = [0, 20_000, 40_000, 60_000].map((at) => ({ at, says: "unknown" }) as const);
  expect(endedBy(some(3), ...unknown)).toEqual([0, 0, 0, 0]);
  expect(
    endedBy(some(1), { at: 0, says: "gone" }, { at: 20_000, says: "unknown" }, { at: 40_000, says: "gone" }),
  ).toEqual([0, 0, 1]);
});

test("c48: what is found to be there is no suspect any more: it would have to be gone twice again", () => {
  const [, there, gone, again] = looking(
    some(1),
    { at: 0, says: "gone" },
    { at: 20_000, says: "present" },
    { at: 40_000, says: "gone" },
    { at: 60_000, says: "gone" },
  );
  expect([there?.left, gone?.ended, again?.ended]).toEqual([0, [], ["key-0"]]);
});

test("c13: a row younger than the list is not looked at", () => {
  const young = some(1, 19_999);
  expect(looking(young, { at: 0, says: "gone" }, { at: 20_000, says: "gone" })).toEqual(
    Array(2).fill({ asked: 0, ended: [], isPaused: false, left: 0 }),
  );
});

test("c48: a suspect that is listed again is forgotten", () => {
  const [candidate] = some(1);
  const first = endLook(beginOrphanScan(candidate ? [candidate] : [], 10, new Map()), () => "gone", 0, new Map());
  expect(first.left.get("key-0")).toEqual({ goneAt: 0 });
  expect(endLook(beginOrphanScan([], 10, first.left), () => "gone", 0, first.left).left.size).toBe(0);
});

test("c13: more than ten at once that are more than one in twenty end no key, and few of them are asked for", () => {
  const looks = (total: number) =>
    [0, 20_000, 40_000].map((at) => ({ at, says: "gone", total }) as const satisfies ScanStep);
  expect(looking(some(11), ...looks(219))).toEqual([
    { asked: 10, ended: [], isPaused: false, left: 11 },
    { asked: 10, ended: [], isPaused: true, left: 11 },
    { asked: 10, ended: [], isPaused: true, left: 11 },
  ]);
  expect(endedBy(some(11), ...looks(220).slice(0, 2))).toEqual([0, 11]);
  expect(endedBy(some(10), ...looks(10).slice(0, 2))).toEqual([0, 10]);
});

test("c13: some that went before do not hold up others that go after them", () => {
  const looks = [some(8), [...some(8), ...some(16).slice(8)]];
  let before: Suspects = new Map();
  const results = looks.map((candidates, i) => {
    const look = beginOrphanScan(candidates, 50, before);
    const { ended, left } = endLook(look, () => "gone", i * 20_000, before);
    before = left;
    return [look.isPaused, ended.length, left.size];
  });
  expect(results).toEqual([
    [false, 0, 8],
    [false, 8, 8],
  ]);
});

test("c48: of a list that lacks everything ten are asked for, and one of them that is there is no suspect", () => {
  const [first, second] = looking(
    some(1_000),
    { at: 0, says: (id) => (id === "key-3" ? "present" : "unknown") },
    { at: 20_000, says: "gone" },
  );
  expect(first).toEqual({ asked: 10, ended: [], isPaused: false, left: 999 });
  expect(second?.isPaused).toBe(true);
});

test.each([
  [10, 10, false],
  [11, 219, true],
  [11, 220, false],
  [51, 1_000, true],
  [50, 1_000, false],
])("c13: %i missing of %i are too many: %s", (missing, total, isTooMany) => {
  expect(exceedsDeletionLimit(missing, total)).toBe(isTooMany);
});

/** When each of so many questions is sent that are asked at one moment. */
function sentAt(count: number): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return Array.from({ length: count }, () => {
    last = lookUpAt(1_000, last);
    return last - 1_000;
  });
}

test("c48: few questions by name are sent ten a second, the first at once", () => {
  expect(sentAt(4)).toEqual([0, 100, 200, 300]);
  expect(lookUpAt(5_000, 1_000)).toBe(5_000);
});

test("c71: of 2,500 questions that are asked at once each is sent within 7.5 s, as many at a time as it takes", () => {
  const at = sentAt(2_500);
  expect(Math.max(...at)).toBeLessThan(7_500);
  const together = Object.values(Object.groupBy(at, String)).map((same) => same?.length ?? 0);
  expect([Math.min(...together), Math.max(...together)]).toEqual([33, 34]);
});
