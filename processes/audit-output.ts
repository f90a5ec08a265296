/** The audit log as lines of standard output, among those of the log (docs/decisions/audit-log.md). */
import { rfc3339Millis } from "../domain/rfc3339.ts";
import { pause } from "../runtime/deadline.ts";
import type { Logger } from "../runtime/log.ts";
import { startPeriodically } from "../runtime/periodic.ts";
import { type AuditJson, auditJson } from "../server/management/audit/audit-json.ts";
import { readAuditFeed } from "../store/audit/audit-feed.ts";
import { advanceAuditOutput, releaseAuditOutput, takeAuditOutput } from "../store/audit/audit-output.ts";
import type { Store } from "../store/database/store.ts";

/** Where lines go. */
type LineOutput = {
  readonly write: (line: string) => void;
  /** Whether all of it has left this process. */
  readonly isWritten: () => boolean;
  /** Whether its reader is gone. */
  readonly isGone: () => boolean;
  /** How many lines it has dropped so far, of whatever kind. */
  readonly dropped: () => number;
};

type AuditOutputDeps = {
  readonly store: Store;
  /** This server's own id. */
  readonly replica: string;
  readonly output: LineOutput;
  readonly log: Logger;
};

const INTERVAL_MS = 1_000;
/** So many are written before it is noted: as many come again where this server dies meanwhile. */
const EVENTS_AT_ONCE = 100;
/** As often it is noted how far the reader has come, at least. Less than the output is held for. */
const NOTED_MS = 5_000;
/** How often a reader of the lines that is behind is looked at. */
const BEHIND_MS = 20;

/**
 * Writes the events of the audit log, each once, or more often where a server dies before it is noted that it has: by
 * one server of the installation at a time, from the oldest on.
 *
 * @returns ends it, and lets another server go on
 */
export function startAuditOutput({ store, replica, output, log }: AuditOutputDeps): () => Promise<void> {
  let wasGone = false;
  const end = startPeriodically({
    intervalMs: INTERVAL_MS,
    isDueAtOnce: true,
    async run(signal) {
      while (!signal.aborted && !output.isGone() && (await writeNext({ store, replica, output }, signal)));
      const isGone = output.isGone();
      // Another server may have a reader, and goes on at once.
      if (isGone && !wasGone) await releaseAuditOutput(store.db, replica);
      wasGone = isGone;
    },
    onFailure: (error) =>
      log.warn({ error }, "the audit log could not be written to standard output; it is tried again"),
  });
  return async () => {
    await end();
    await releaseAuditOutput(store.db, replica).catch(() => {});
  };
}

/** @returns whether there may be more */
async function writeNext(
  { store: { db }, replica, output }: Omit<AuditOutputDeps, "log">,
  signal: AbortSignal,
): Promise<boolean> {
  const place = await takeAuditOutput(db, replica);
  if (place === null) return false;
  const page = await readAuditFeed(db, place, EVENTS_AT_ONCE);
  const shown = await auditJson(db, page.events, undefined);
  let noted = performance.now();
  for (const [i, event] of shown.entries()) {
    if (!(await isTaken(output, `${auditLine(event)}\n`, signal))) return false;
    const now = performance.now();
    if (now - noted < NOTED_MS) continue;
    // A reader that is behind: what it has had is noted, and the output held on, or another server would write it again.
    if (!(await advanceAuditOutput(db, replica, page.events[i]?.seq ?? place.seq))) return false;
    noted = now;
  }
  if (page.next.seq === place.seq) return false;
  await advanceAuditOutput(db, replica, page.next.seq);
  return page.events.length === EVENTS_AT_ONCE;
}

/** @returns whether the line has left this process: where it has not, it comes again */
async function isTaken(output: LineOutput, line: string, signal: AbortSignal): Promise<boolean> {
  const before = output.dropped();
  output.write(line);
  while (!output.isWritten()) {
    if (signal.aborted || output.isGone()) return false;
    await pause(BEHIND_MS);
  }
  return output.dropped() === before;
}

/** In the form of the log's lines: what collects those tells it by `audit`. */
function auditLine(event: AuditJson): string {
  return JSON.stringify({ level: 30, time: rfc3339Millis(Date.now()), audit: event, msg: `audit: ${event.action}` });
}
