/**
 * Queue that every reconciler hangs on, after client-go and controller-runtime: it carries names, not events. A name
 * waits in it at most once, is worked on by one worker at a time, and is worked on again if it was added meanwhile.
 * Whether and when to retry is decided here and nowhere else.
 */

import { backoffMs } from "./backoff.ts";
import { createDeadlines, type Timers } from "./deadlines.ts";
import type { Lane } from "./lane-queue.ts";
import { createNameQueue, type NameQueueMetrics, type NameQueueOptions } from "./name-queue.ts";

/** Longest wait before the first retry, in milliseconds. */
const FIRST_RETRY_MS = 5;

/** Counters behind the metrics `workqueue_*`. Durations are milliseconds. */
export type QueueMetrics = NameQueueMetrics & {
  /** Counts a failure of a name, in a worker's hands or in the background. */
  retried(): void;
  finished(tookMs: number, result: "success" | "error"): void;
};

/** Result for an item whose urgent work is done: the rest waits until the urgent work of every other item is done. */
export const REMAINS = Symbol("the rest waits until nothing urgent does");

/** Task that goes on without a worker: the name is worked on again when it ends, and retried if it fails. */
export type BackgroundTask = { readonly done: Promise<void> };

export type WorkQueueOptions<T> = NameQueueOptions<T> & {
  /**
   * Does the work of one item. Resolves with the milliseconds until the next look; undefined for not before something
   * changes. A failure is retried after a back-off of the name's own.
   *
   * @param isUrgent true if the item waited as urgent: the rest of its work may be left until nothing else is urgent
   */
  readonly work: (
    item: T,
    signal: AbortSignal,
    isUrgent: boolean,
  ) => Promise<number | BackgroundTask | typeof REMAINS | undefined>;
  /** Number of names that are worked on at once. */
  readonly concurrency: number;
  /** Clock in milliseconds: since the epoch, and a clock that never jumps. */
  readonly clock: { now(): number; monotonic(): number };
  /** Returns a number that is uniform in [0, 1): the jitter that keeps retries apart. */
  readonly random: () => number;
  /** Called with each failure and the delay before the next attempt. */
  readonly onFailure: (item: T, error: unknown, retryInMs: number) => void;
  readonly timers?: Timers;
  readonly metrics?: QueueMetrics;
};

export type WorkQueue<T> = {
  /** Has the item worked on as soon as a worker is free. */
  add(item: T): void;
  /**
   * Adds an item before all that was added and is not urgent: half-done work is finished before other work is begun.
   */
  resume(item: T): void;
  /** Adds an item `delayMs` from now. A name with several deadlines keeps the earliest. */
  addAfter(item: T, delayMs: number): void;
  /** Works until the signal, then resolves once the work in hand has ended. The names that still wait are dropped. */
  run(signal: AbortSignal): Promise<void>;
};

export function createWorkQueue<T>(options: WorkQueueOptions<T>): WorkQueue<T> {
  const { key, clock, metrics } = options;
  const names = createNameQueue(options);
  const deadlines = createDeadlines(clock, options.timers);
  const failures = new Map<string, number>();
  let state: "created" | "running" | "stopped" = "created";
  let signal = new AbortController().signal;
  let drained = () => {};

  const add = (item: T) => put("ordinary", item);
  const resume = (item: T) => put("resumed", item);

  function put(lane: Lane, item: T): void {
    if (state !== "stopped" && names.add(lane, item)) startWork();
  }

  /** @param put puts the item into the queue when it is due */
  function addAfter(item: T, delayMs: number, put = add): void {
    if (state === "stopped") return;
    if (delayMs <= 0) put(item);
    else deadlines.set(key(item), delayMs, () => put(item));
  }

  function startWork(): void {
    while (state === "running" && names.inHand() < options.concurrency) {
      const next = names.get();
      if (next === undefined) return;
      void workOn(next);
    }
  }

  async function workOn({ name, item, isUrgent }: { name: string; item: T; isUrgent: boolean }): Promise<void> {
    const startedAt = clock.monotonic();
    let result: "success" | "error" = "success";
    let remains = false;
    try {
      const next = await options.work(item, signal, isUrgent);
      if (next === REMAINS) {
        remains = state !== "stopped";
      } else if (typeof next === "object") {
        void next.done.then(
          () => resume(item),
          (error) => retry(name, item, error),
        );
      } else {
        failures.delete(name);
        if (next !== undefined) addAfter(item, Math.max(next, 1));
      }
    } catch (error) {
      result = "error";
      retry(name, item, error);
    }
    metrics?.finished(clock.monotonic() - startedAt, result);
    names.done(name, item, remains);
    startWork();
    if (state === "stopped" && names.inHand() === 0) drained();
  }

  function retry(name: string, item: T, error: unknown): void {
    if (state === "stopped") return;
    const failed = failures.get(name) ?? 0;
    failures.set(name, failed + 1);
    const delay = backoffMs(FIRST_RETRY_MS, failed, options.random());
    metrics?.retried();
    // The first retry goes before the others: behind a thousand of them, one request without an answer would delay
    // half-done work by minutes. A name that goes on failing waits among the others.
    addAfter(item, delay, failed === 0 ? resume : add);
    options.onFailure(item, error, delay);
  }

  function stop(): void {
    state = "stopped";
    deadlines.clear();
    names.clear();
    if (names.inHand() === 0) drained();
  }

  async function run(until: AbortSignal): Promise<void> {
    if (state !== "created") throw new Error("a work queue runs once");
    const end = new Promise<void>((resolve) => {
      drained = resolve;
    });
    if (until.aborted) {
      stop();
    } else {
      state = "running";
      signal = until;
      until.addEventListener("abort", stop, { once: true });
      startWork();
    }
    return end;
  }

  return { add, addAfter: (item, delayMs) => addAfter(item, delayMs), resume, run };
}
