import { randomBytes } from "node:crypto";
import { expect, type TestContext, test } from "vitest";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { createLog } from "../../../runtime/log.ts";
import type { KeyIndexView } from "../../../server/key-index/key-index-view.ts";
import { UnsignedReports } from "../../../server/leaks/unsigned-reports.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { NO_VIEW } from "../../controller/fixtures/world.ts";
import { keyRecord } from "../harness.ts";

const MINUTE = 60_000;

/** Reports to a server whose database is away. */
async function startReports(context: TestContext, view: Partial<KeyIndexView>) {
  const store = await openPostgres("postgres://keyplane@127.0.0.1:1/keyplane");
  const lines: string[] = [];
  const outcomes: string[] = [];
  let now = 0;
  const reports = new UnsignedReports(
    {
      store,
      clock: { now: () => now, monotonic: () => now },
      index: { ...NO_VIEW, ...view },
      log: createLog("warn", { write: (line) => void lines.push(line) }),
    },
    (_, outcome) => outcomes.push(outcome),
  );
  context.onTestFinished(async () => {
    await reports.close();
    await store.close();
  });
  return {
    ...{ reports, lines, outcomes },
    pass: (ms: number) => {
      now += ms;
    },
    take: (keys: readonly string[], address = "192.0.2.1") =>
      reports.take(Buffer.from(JSON.stringify({ leaks: keys.map((key) => ({ key })) })), address),
  };
}

const keysOf = (count: number) => Array.from({ length: count }, () => mintKey(randomBytes));

test("b100: reports that wait for a database that is away hold up no server's end: it is asked once more", async (context) => {
  const { reports, lines, outcomes, take } = await startReports(context, { isCurrent: () => false });
  take(keysOf(100));
  await reports.close();
  expect(outcomes).toEqual(Array.from({ length: 100 }, () => "dropped"));
  expect(lines.length).toBeLessThanOrEqual(2);
});

test("b100: by one network about more than a hundred keys in a minute is dropped, and counted", async (context) => {
  const { reports, outcomes, take, pass } = await startReports(context, { findKey: () => keyRecord() });
  const keys = keysOf(100);
  const [further = ""] = keysOf(1);
  take(keys);
  // A key that is reported again is none more.
  take(keys);
  expect(outcomes).toEqual([]);
  take([further]);
  take([further], "192.0.2.200");
  expect(outcomes).toEqual(["dropped", "dropped"]);
  take([further], "198.51.100.1");
  pass(MINUTE);
  take([further]);
  expect(outcomes).toHaveLength(2);
  await reports.close();
  expect(outcomes).toEqual(Array.from({ length: 104 }, () => "dropped"));
});

test("b100: junk is looked up, however much one network sends", async (context) => {
  const { outcomes, take } = await startReports(context, {});
  for (let i = 0; i < 10; i++) take(keysOf(100));
  expect(outcomes).toEqual(Array.from({ length: 1_000 }, () => "unknown"));
});
