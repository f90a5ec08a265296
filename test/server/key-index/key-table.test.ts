import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { packVersion } from "../../../server/context/packed-key-id.ts";
import { KeyTable } from "../../../server/key-index/key-table.ts";

const A = `key_${"a".repeat(20)}`;
const B = `key_${"b".repeat(20)}`;
const digest = () => randomBytes(32).toString("latin1");

/** Writes a row that no search finds yet. */
function append(table: KeyTable, ofDigest: string, keyId = A, version = 1): number {
  const fields = { attributes: 5, limit: 6, expiresAt: 1_234.5 };
  return table.append(ofDigest, { ...packVersion(keyId, version, false), ...fields });
}

function publish(table: KeyTable, ofDigest: string, keyId = A, version = 1): number {
  const row = append(table, ofDigest, keyId, version);
  table.publish(row);
  return row;
}

const rowsOf = (table: KeyTable, keyId = A) => table.rowsOf(packVersion(keyId, 1, false)).sort();

describe("a row", () => {
  test("is found by its digest and by its key once it is published, and not before", () => {
    const table = KeyTable.allocate(8);
    const one = digest();
    const row = append(table, one);
    expect([table.find(one), rowsOf(table), table.isPublished(row)]).toEqual([0, [], false]);
    table.publish(row);
    expect([table.find(one), rowsOf(table), table.isPublished(row)]).toEqual([row, [row], true]);
  });

  test("has what was written, on each thread that has the buffers", () => {
    const table = KeyTable.allocate(8);
    const one = digest();
    publish(table, one, B, 7);
    const other = new KeyTable(table.buffers);
    const row = other.find(one);
    expect([other.versionOf(row), other.expiresAt(row), other.attributesOf(row), other.limitOf(row)]).toEqual([
      ...[7, 1_234.5, 5, 6],
    ]);
    expect(other.isImportedFormat(row)).toBe(false);
  });

  test("takes the place of the one of its digest, at once and for good", () => {
    const table = KeyTable.allocate(8);
    const one = digest();
    const [before, after] = [publish(table, one), publish(table, one)];
    expect([table.find(one), rowsOf(table)]).toEqual([after, [after]]);
    expect([table.isPublished(before), table.isPublished(after)]).toEqual([false, true]);
  });

  test("b476: takes the place of another without a moment in which its key has none, or its digest", () => {
    const table = KeyTable.allocate(8);
    const one = digest();
    publish(table, one);
    const other = new KeyTable(table.buffers);
    const moments: [rows: number, isFound: boolean][] = [];
    const { store } = Atomics;
    vi.spyOn(Atomics, "store").mockImplementation(((...args: Parameters<typeof store>) => {
      const stored = store(...args);
      moments.push([rowsOf(other).length, other.find(one) !== 0]);
      return stored;
    }) as typeof store);
    publish(table, one);
    vi.restoreAllMocks();
    expect(moments).toEqual([
      [2, true],
      [2, true],
      [1, true],
    ]);
  });

  test("that is taken out is found no more, and those that were put beside it still are", () => {
    const table = KeyTable.allocate(3);
    const digests = [digest(), digest(), digest()];
    const rows = digests.map((one, i) => publish(table, one, A, i + 1));
    table.takeOut(rows[0] ?? 0);
    expect(digests.map((one) => table.find(one))).toEqual([0, rows[1], rows[2]]);
    expect(rowsOf(table)).toEqual([rows[1], rows[2]]);
  });

  test("is copied with other attributes, from a table that is being replaced", () => {
    const [from, to] = [KeyTable.allocate(2), KeyTable.allocate(2)];
    const one = digest();
    const copy = to.appendCopy(from, publish(from, one, B, 3), 9);
    to.publish(copy);
    expect([to.find(one), to.versionOf(copy), to.attributesOf(copy), to.limitOf(copy)]).toEqual([copy, 3, 9, 6]);
  });
});

test("whatever is published and taken out, each digest finds its last row, and each key all of its rows", () => {
  const digests = Array.from({ length: 12 }, digest);
  const keys = [A, B];
  const move = fc.record({ which: fc.nat({ max: digests.length - 1 }), out: fc.boolean() });
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      const table = KeyTable.allocate(40);
      const expected = new Map<number, number>();
      for (const { which, out } of moves) {
        const known = expected.get(which);
        if (!out) expected.set(which, publish(table, digests[which] ?? "", keys[which % 2], which + 1));
        else if (known !== undefined) {
          table.takeOut(known);
          expected.delete(which);
        }
      }
      expect(digests.map((one) => table.find(one))).toEqual(digests.map((_, which) => expected.get(which) ?? 0));
      for (const [parity, key] of keys.entries()) {
        const rows = [...expected].filter(([which]) => which % 2 === parity).map(([, row]) => row);
        expect(new Set(rowsOf(table, key))).toEqual(new Set(rows));
      }
    }),
  );
});

describe("the uses of rows", () => {
  const drain = (table: KeyTable, now: number) => {
    const uses: [number, number, number][] = [];
    table.drainUses(now, (row, at, requests) => uses.push([row, at, requests]));
    return uses;
  };

  test("are the last time and how often, from every thread, and are forgotten once they were taken", () => {
    const table = KeyTable.allocate(64);
    const rows = Array.from({ length: 40 }, () => publish(table, digest()));
    const [first = 0, last = 0] = [rows[0], rows[39]];
    const now = Date.parse("2026-11-01T00:00:00Z");
    table.noteUse(first, now - 3_000);
    new KeyTable(table.buffers).noteUse(first, now - 2_000);
    table.noteUse(last, now - 1_000);
    expect(drain(table, now)).toEqual([
      [first, now - 2_000, 2],
      [last, now - 1_000, 1],
    ]);
    expect(drain(table, now)).toEqual([]);
  });

  test("of a row that was replaced since are there too", () => {
    const table = KeyTable.allocate(4);
    const one = digest();
    const before = publish(table, one);
    table.noteUse(before, 1_000);
    publish(table, one);
    expect(drain(table, 2_000)).toEqual([[before, 1_000, 1]]);
  });
});

test("a table has room for as many rows as it was made for, and no more than a slot can number", () => {
  const table = KeyTable.allocate(2);
  publish(table, digest());
  expect([table.capacity, table.lastRow]).toEqual([1, 1]);
  expect(() => KeyTable.allocate(2 ** 24 - 1)).toThrow(RangeError);
});
