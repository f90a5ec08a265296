import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { createLog } from "../../../runtime/log.ts";
import { UnsignedReports } from "../../../server/leaks/unsigned-reports.ts";
import { NO_VIEW } from "../../controller/fixtures/world.ts";
import { openEmbedded } from "../../env/database/embedded-database.ts";

test("b100: reports that wait for a database that is away hold up no server's end: it is asked once more", async () => {
  const store = await openEmbedded();
  await store.close();
  const lines: string[] = [];
  const outcomes: string[] = [];
  const reports = new UnsignedReports(
    {
      store,
      clock: { now: () => 0, monotonic: () => 0 },
      index: { ...NO_VIEW, isCurrent: () => false },
      log: createLog("warn", { write: (line) => void lines.push(line) }),
    },
    (_, outcome) => outcomes.push(outcome),
  );
  const leaks = Array.from({ length: 100 }, () => ({ key: mintKey(randomBytes) }));
  reports.take(Buffer.from(JSON.stringify({ leaks })), "192.0.2.1");
  await reports.close();
  expect(outcomes).toEqual(Array.from({ length: 100 }, () => "dropped"));
  expect(lines.length).toBeLessThanOrEqual(2);
});
