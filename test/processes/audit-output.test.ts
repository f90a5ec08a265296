/** The audit log on standard output, beside events of any size. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startAuditOutput } from "../../processes/audit-output.ts";
import { LogOutput } from "../../runtime/log-output.ts";
import { appendAudit } from "../../store/audit/audit.ts";
import { readAuditFeed } from "../../store/audit/audit-feed.ts";
import { describeOnEitherEngine } from "../env/database/engines.ts";
import { until } from "../env/until.ts";

/** A gateway's routes before and after a change: 256 of the longest are 600 kB each. */
const LARGE = { changed: { routes: { before: "b".repeat(600_000), after: "a".repeat(600_000) } } };

describeOnEitherEngine("the audit log on standard output", (store) => {
  test("c44: goes on behind an event that is larger than what is kept of the log's lines", async () => {
    const folder = mkdtempSync(join(tmpdir(), "audit-output-"));
    const file = join(folder, "stdout");
    const fd = openSync(file, "w");
    const output = new LogOutput(fd, { onSpace: () => {}, onGone: () => {} });
    const silent = () => {};
    const end = startAuditOutput({
      ...{ store: store(), replica: "replica-1" },
      output: {
        write: (line) => output.write(line),
        isWritten: () => output.isWritten,
        isGone: () => output.isGone,
        dropped: () => output.dropped,
      },
      log: { debug: silent, info: silent, warn: silent, error: silent },
    });
    onTestFinished(async () => {
      await end();
      closeSync(fd);
      rmSync(folder, { recursive: true });
    });
    const { db } = store();
    await appendAudit(db, [{ at: null, kind: "test.first", detail: {} }]);
    await appendAudit(db, [{ at: null, kind: "gateway.changed", teamId: "team-of-a-tenant", detail: LARGE }]);
    await appendAudit(db, [{ at: null, kind: "test.of_another_team", detail: {} }]);
    const written = () =>
      readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line).audit?.action]));
    await until("all are written", () => written().includes("test.of_another_team"), { timeoutMs: 10_000 });
    expect(written()).toEqual(["test.first", "gateway.changed", "test.of_another_team"]);
  });

  test("b109: a page of the log is of bounded size, however large its events are", async () => {
    const { db } = store();
    const first = await readAuditFeed(db, { seq: 0, mark: null }, 200);
    const events = Array.from({ length: 12 }, () => ({
      ...{ at: null, kind: "gateway.changed", teamId: "team-of-a-tenant", detail: LARGE },
    }));
    await appendAudit(db, events);
    for (const teams of [undefined, ["team-of-a-tenant"]]) {
      let after = first.next;
      let count = 0;
      for (;;) {
        const page = await readAuditFeed(db, after, 200, teams);
        if (page.next.seq === after.seq) break;
        expect(JSON.stringify(page.events).length).toBeLessThan(4 << 20);
        count += page.events.length;
        after = page.next;
      }
      expect(count).toBe(12);
    }
  });
});
