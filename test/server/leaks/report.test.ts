import { hash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { readReport } from "../../../server/leaks/report.ts";
import { leastOfFive, threadCpuTimeOf } from "../../env/cpu-time.ts";

const KEY = mintKey(randomBytes);
const MARK = "\uFEFF";

test.each([
  ["of keys", { leaks: [{ key: KEY }, { key: "größe" }] }],
  ["of hashes", { leaks: [{ sha256: hash("sha256", KEY) }], dryRun: true }],
  ["of GitHub's", [{ token: KEY, type: "keyplane_key", url: "https://example.com/a", source: "content" }]],
])("a report %s reads the same with a byte order mark and without", (_what, report) => {
  const json = JSON.stringify(report);
  const read = readReport(Buffer.from(json));
  expect(read).toBeDefined();
  for (const body of [`${MARK}${json}`, `${MARK}\r\n ${json}\n`]) expect(readReport(Buffer.from(body))).toEqual(read);
});

test.each([
  ["a byte order mark alone", Buffer.from(MARK)],
  ["two of them", Buffer.from(`${MARK}${MARK}{"leaks":[]}`)],
  ["one behind the text", Buffer.from(`{"leaks":[]}${MARK}`)],
  ["half of one", Buffer.from([0xef, 0xbb, ...Buffer.from('{"leaks":[]}')])],
  ["UTF-16", Buffer.from(`${MARK}{"leaks":[]}`, "utf16le")],
])("a report with %s is none", (_what, body) => {
  expect(readReport(body)).toBeUndefined();
});

test("b83: who reports leaks at URLs with hosts of many letters holds the thread for less than 50 ms", async () => {
  const letters = Array.from({ length: 2_600 }, (_, at) => String.fromCodePoint(0x4e00 + at * 7)).join("");
  const matches = Array.from({ length: 8 }, () => ({ token: KEY, url: `https://${letters}/` }));
  const body = Buffer.from(JSON.stringify(matches));
  expect(body.length).toBeLessThan(64 << 10);
  expect(await leastOfFive(50, () => threadCpuTimeOf(() => readReport(body)))).toBeLessThan(50);
});
