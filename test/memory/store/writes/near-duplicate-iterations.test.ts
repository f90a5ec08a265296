import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { findNearDuplicates } from "../../../../memory/store/writes/near-duplicates.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { PLAIN } from "../plain-atom.ts";

// The module that gives others their turn, with its calls counted.
vi.mock("node:timers/promises", async (load) => {
  const original = await load<typeof import("node:timers/promises")>();
  return { ...original, setImmediate: vi.fn(original.setImmediate) };
});

const MANY = 12;
/** Rows that are read of those with other numbers alone. */
const COMPARED = 10;
const reach = { teamId: "team-a", libraryIds: null };

describeNightlyOnEachEngine("A statement that is compared with long ones", (opened) => {
  test("b87: gives other calls their turn between any two of them", async () => {
    await addTeamsWithLibraries(opened());
    const long = (n: number) =>
      `${"The deploy freeze ends on Monday, and the next one begins in May. ".repeat(900)}${n}`;
    for (let n = 0; n < MANY; n++) {
      const atom = { ...PLAIN, content: long(n), libraryId: "lib-diary", at: Date.now() };
      await opened()
        .db.transaction()
        .execute((tx) => insertAtom(tx, reach, atom));
    }
    const iterations = vi.mocked(setImmediate);
    iterations.mockClear();
    const found = await findNearDuplicates(opened().db, reach, "lib-diary", long(MANY));
    expect(found.length).toBeGreaterThanOrEqual(COMPARED);
    expect(iterations.mock.calls.length).toBeGreaterThanOrEqual(COMPARED - 1);
  });
});
