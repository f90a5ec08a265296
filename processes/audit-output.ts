/** Audit log as lines of standard output, among the lines of the log (docs/decisions/audit-log.md). */
import { rfc3339Millis } from "../domain/rfc3339.ts";
import { pause } from "../runtime/deadline.ts";
import type { Logger } from "../runtime/log.ts";
import { startPeriodically } from "../runtime/periodic.ts";
import { type AuditJson, auditJson } from "../server/management/audit/audit-json.ts";
import { readAuditFeed } from "../store/audit/audit-feed.ts";
import { advanceAuditOutput, releaseAuditOutput, takeAuditOutput } from "../store/audit/audit-output.ts";
import type { Store } from "../store/database/store.ts";

/** Output that the lines are written to. */
type LineOutput = {
  readonly write: (line: string) => void;
  /** True if all that was written has left this process. */
  readonly isWritten: () => boolean;
  /** True if the output's reader is gone. */
  readonly isGone: () => boolean;
  /** Number of lines that the output has dropped so far, of whatever kind. */
  readonly dropped: () => number;
};

type AuditOutputDeps = {
  readonly store: Store;
  /** Id of this server. */
  readonly replica: string;
  readonly output: LineOutput;
  readonly log: Logger;
};

const INTERVAL_MS = 1_000;
/**
 * Number of events that are written before their position is stored: as many are written again if this server dies
 * meanwhile.
 */
const EVENTS_AT_ONCE = 100;
/** Longest time, in milliseconds, until the position is stored. It is shorter than the lease on the output. */
const NOTED_MS = 5_000;
/** Milliseconds between two looks at a reader of the lines that is behind. */
const BEHIND_MS = 20;

/**
 * Writes the events of the audit log, from the oldest on, by one server of the installation at a time. Each event is
 * written once, or more often if a server dies before it stores its position.
 *
 * @returns function that ends it, and lets another server go on
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

/**
 * Writes the next events.
 *
 * @returns true if there may be more
 */
async function writeNext(
  { store: { db }, replica, output }: Omit<AuditOutputDeps, "log">,
  signal: AbortSignal,
): Promise<boolean> {
  const position = await takeAuditOutput(db, replica);
  if (position === null) return false;
  const page = await readAuditFeed(db, position, EVENTS_AT_ONCE);
  const shown = await auditJson(db, page.events, undefined);
  let noted = performance.now();
  for (const [i, event] of shown.entries()) {
    if (!(await isTaken(output, `${auditLine(event)}\n`, signal))) return false;
    const now = performance.now();
    if (now - noted < NOTED_MS) continue;
    // The reader is behind: the position is stored and the lease renewed, or another server would write it all again.
    if (!(await advanceAuditOutput(db, replica, page.events[i]?.seq ?? position.seq))) return false;
    noted = now;
  }
  if (page.next.seq === position.seq) return false;
  await advanceAuditOutput(db, replica, page.next.seq);
  return page.events.length > 0;
}

/**
 * Writes a line, and waits until it has left this process.
 *
 * @returns true if it has; otherwise it is written again later
 */
async function isTaken(output: LineOutput, line: string, signal: AbortSignal): Promise<boolean> {
  const before = output.dropped();
  output.write(line);
  while (!output.isWritten()) {
    if (signal.aborted || output.isGone()) return false;
    await pause(BEHIND_MS);
  }
  return output.dropped() === before;
}

/** Returns an event in the form of the log's lines: a collector of those tells it from them by `audit`. */
function auditLine(event: AuditJson): string {
  return JSON.stringify({ level: 30, time: rfc3339Millis(Date.now()), audit: event, msg: `audit: ${event.action}` });
}
