import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { Logger } from "../../../runtime/log.ts";
import { appendRefusals, countRefusals } from "../../../store/audit/refusals.ts";
import type { Store } from "../../../store/database/store.ts";
import type { AuthMetrics, LostAudit } from "../metrics.ts";
import type { RefusalEvent, RefusalRecorder } from "./refusal-event.ts";
import { minuteOf, type RefusalRow, RefusalRows } from "./refusal-rows.ts";

/** Milliseconds between two writes of refusals to the audit log. */
export const AUDIT_FLUSH_MS = 1_000;
/** Rows that a process adds to the audit log in a minute, all its threads together. */
export const MAX_REFUSAL_ROWS = 60;

/** A row that was written, or could not be. */
type WrittenRow = {
  readonly row: RefusalRow;
  /** Id of the row in the audit log, or the reason why it is not there. */
  readonly auditEntry: number | LostAudit;
  /** Number of its refusals that are written, or counted as lost. */
  readonly recorded: number;
};

/** Parts that the sampler works with. */
type SamplerDeps = {
  readonly store: Store;
  readonly metrics: Pick<AuthMetrics, "countLostAudit">;
  readonly log: Logger;
  /** Name of the replica. */
  readonly replica: string;
  readonly clock: Pick<Clock, "now">;
  /** Number of threads that serve this process's requests, each with a sampler of its own. */
  readonly threads: number;
};

/**
 * Writes refusals to the audit log, off the request's path: a row for refusals that are alike, within a second of the
 * first, and how many they were once their minute is over. What is beyond the bounds is dropped, and so is what cannot
 * be written: both are counted, and requests are decided all the same (threats b88, c44).
 */
export class RefusalSampler implements RefusalRecorder {
  readonly #deps: SamplerDeps;
  readonly #rows: RefusalRows;
  #fresh: RefusalRow[] = [];
  #entries: WrittenRow[] = [];
  #flushing: Promise<void> | undefined;

  constructor(deps: SamplerDeps) {
    this.#deps = deps;
    this.#rows = new RefusalRows(Math.max(1, Math.floor(MAX_REFUSAL_ROWS / deps.threads)));
  }

  record(refusal: RefusalEvent): void {
    const kept = this.#rows.add(refusal);
    if (kept === false) this.#deps.metrics.countLostAudit("sampled", 1);
    else if (kept !== true) this.#fresh.push(kept);
  }

  /** Writes new rows, and the counts of rows that are complete. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write(minuteOf(this.#deps.clock.now())).finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Writes everything that is left: nothing more is recorded. */
  async close(): Promise<void> {
    await this.#flushing;
    await this.#write(Number.POSITIVE_INFINITY);
  }

  /** @param now the minute whose rows are still being counted */
  async #write(now: number): Promise<void> {
    const fresh = this.#fresh;
    this.#fresh = [];
    if (fresh.length > 0) this.#entries.push(...(await this.#append(fresh)));
    const ended = this.#entries.filter(({ row }) => row.minute < now);
    this.#entries = this.#entries.filter(({ row }) => row.minute >= now);
    await this.#count(ended.filter(({ row, recorded }) => row.count > recorded));
  }

  async #append(rows: readonly RefusalRow[]): Promise<WrittenRow[]> {
    const { store, replica } = this.#deps;
    // Those that come while the rows are being written are counted once the minute is over (threats b479).
    const counts = rows.map(({ count }) => count);
    const entriesOf = (written: (i: number) => WrittenRow["auditEntry"]) =>
      rows.map((row, i) => this.#entryOf(row, written(i), counts[i] ?? 0));
    try {
      const ids = await appendRefusals(
        store,
        rows.map(
          ({
            first: { at, cause, code, route, seq, keyId, teamId, principal },
            address,
            network,
            requestId,
            count,
            until,
          }) => ({
            ...{ at, keyId, teamId, actor: `replica:${replica}` },
            detail: {
              ...{
                decision: code,
                reason: cause,
                route: route ?? null,
                seq,
                replica,
                address,
                network,
                requestId,
                count,
              },
              ...(until === undefined ? {} : { until: rfc3339Millis(until) }),
              ...(principal === undefined ? {} : { principal }),
            },
          }),
        ),
      );
      return entriesOf((i) => ids[i] ?? "limited");
    } catch (error) {
      this.#warn(error, rows.length);
      return entriesOf(() => "unwritten");
    }
  }

  #entryOf(row: RefusalRow, auditEntry: WrittenRow["auditEntry"], recorded: number): WrittenRow {
    if (typeof auditEntry === "string") this.#deps.metrics.countLostAudit(auditEntry, recorded);
    return { row, auditEntry, recorded };
  }

  async #count(entries: readonly WrittenRow[]): Promise<void> {
    const counts: { id: number; count: number; until: string | undefined }[] = [];
    let more = 0;
    for (const { row, auditEntry, recorded } of entries) {
      if (typeof auditEntry === "string") this.#deps.metrics.countLostAudit(auditEntry, row.count - recorded);
      else {
        const until = row.until === undefined ? undefined : rfc3339Millis(row.until);
        counts.push({ id: auditEntry, count: row.count, until });
        more += row.count - recorded;
      }
    }
    try {
      await countRefusals(this.#deps.store, counts);
    } catch (error) {
      this.#deps.metrics.countLostAudit("unwritten", more);
      this.#warn(error, counts.length);
    }
  }

  #warn(error: unknown, count: number): void {
    this.#deps.log.warn({ error, count }, "could not write refusals to the audit log; they are dropped");
  }
}
