import { expect, test } from "vitest";
import { packVersion } from "../../../server/context/packed-key-id.ts";
import { KeyRow } from "../../../server/key-index/key-row.ts";
import { KeyTable } from "../../../server/key-index/key-table.ts";
import { keyRecord } from "../harness.ts";

const GENERATION = 4;

function rowOf(keyId: string, version: number, expiresAt = Number.POSITIVE_INFINITY) {
  const record = keyRecord({ keyId, version, expiresAt, libraryIds: ["lib_a"], rateLimit: null, concurrent: 3 });
  const { keyId: _, version: __, expiresAt: ___, ...attributes } = record;
  const packed = packVersion(keyId, version, false);
  const table = KeyTable.allocate(1);
  const row = table.append("d".repeat(32), { ...packed, attributes: 0, limit: 2, expiresAt });
  // An id or a number that the row has no place for is kept with its attributes.
  const kept = packed.whole ? attributes : { ...attributes, identity: { keyId, version } };
  return { record, found: new KeyRow(table, row, GENERATION, kept) };
}

test.each([
  ["an id of ours", `key_${"a2b3".repeat(5)}`, 7],
  ["an id of another shape", "placeholder_1", 7],
  ["a number that the words have no place for", `key_${"a2b3".repeat(5)}`, 2 ** 21],
])("a row is the record that it was made of: %s", (_, keyId, version) => {
  const { record, found } = rowOf(keyId, version, 1_234);
  for (const [field, value] of Object.entries(record))
    expect([field, found[field as keyof KeyRow]]).toEqual([field, value]);
});

test("a row says where it is: in which generation of tables, and in which cell its rate limit is counted", () => {
  const { found } = rowOf("key_a", 1);
  expect([found.generation, found.row, found.limit]).toEqual([GENERATION, 1, 2]);
});

test("a row has nothing of its table that another row is written into, or that is replaced", () => {
  const table = KeyTable.allocate(2);
  const { record } = rowOf("key_a", 1);
  const write = (keyId: string) =>
    table.append("d".repeat(32), { ...packVersion(keyId, 1, false), attributes: 0, limit: 0, expiresAt: 5 });
  const found = new KeyRow(table, write(`key_${"a".repeat(20)}`), 0, record);
  write(`key_${"b".repeat(20)}`);
  new Int32Array(table.buffers.rows).fill(0);
  expect([found.keyId, found.version, found.expiresAt]).toEqual([`key_${"a".repeat(20)}`, 1, 5]);
});
