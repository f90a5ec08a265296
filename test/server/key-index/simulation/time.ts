/**
 * Simulated processes: each with its own clocks and timers, and able to stand still. Code that is run within one by
 * {@link SimProcess.run} finds there its `setTimeout` and `setInterval`, also after it has waited.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { vi } from "vitest";
import type { Clock } from "../../../../runtime/clock.ts";

type Timer = { due: number; readonly every: number | undefined; readonly act: () => void };

const current = new AsyncLocalStorage<SimProcess>();

/** From here on the timers of simulated processes are theirs; everybody else's stay real. Undone by `vi.unstubAllGlobals`. */
export function simulateTimers(): void {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval };
  vi.stubGlobal("setTimeout", (act: () => void, ms: number) => {
    const process = current.getStore();
    return process === undefined ? real.setTimeout(act, ms) : process.addTimer(act, ms, undefined);
  });
  vi.stubGlobal("setInterval", (act: () => void, ms: number) => {
    const process = current.getStore();
    return process === undefined ? real.setInterval(act, ms) : process.addTimer(act, ms, ms);
  });
  for (const name of ["clearTimeout", "clearInterval"] as const) {
    vi.stubGlobal(name, (timer: unknown) => {
      if (typeof timer === "number") current.getStore()?.removeTimer(timer);
      else if (timer instanceof Object) Reflect.apply(real[name], undefined, [timer]);
    });
  }
}

/** Lets everything run that waits for nothing but its turn. */
export function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One for all processes: what really passes, in milliseconds. */
export type TrueTime = { now: number };

/**
 * Lets so much time pass; each timer fires when it is due.
 *
 * @param look called at each moment, before what is due then happens
 */
export async function passTime(
  time: TrueTime,
  processes: readonly SimProcess[],
  ms: number,
  look: () => void,
): Promise<void> {
  const end = time.now + ms;
  for (;;) {
    let next: SimProcess | undefined;
    let due = Number.POSITIVE_INFINITY;
    for (const process of processes) {
      const itsDue = process.nextDue();
      if (itsDue < due) [next, due] = [process, itsDue];
    }
    if (next === undefined || due > end) break;
    time.now = Math.max(time.now, due);
    look();
    next.fire();
    await nextIteration();
  }
  time.now = end;
  look();
}

export class SimProcess {
  readonly name: string;
  readonly #time: TrueTime;
  readonly #timers = new Map<number, Timer>();
  #nextTimer = 1;
  /** Of the machine: while it is suspended its monotonic clock stands still. */
  #suspended = 0;
  #wall = 0;
  #gone = false;
  #still: PromiseWithResolvers<void> | undefined;

  readonly clock: Clock = {
    now: () => this.#time.now + this.#wall,
    monotonic: () => this.#time.now - this.#suspended,
  };

  constructor(name: string, time: TrueTime) {
    this.name = name;
    this.#time = time;
  }

  /** How much time passed unnoticed by its monotonic clock. */
  get suspendedMs(): number {
    return this.#suspended;
  }

  run<T>(act: () => T): T {
    return current.run(this, act);
  }

  /** Whether it runs now: neither still nor gone. */
  get runs(): boolean {
    return this.#still === undefined && !this.#gone;
  }

  get isGone(): boolean {
    return this.#gone;
  }

  /** Resolves when it runs; never, once it is gone. */
  async whenRunning(): Promise<void> {
    while (this.#still !== undefined) await this.#still.promise;
    if (this.#gone) await new Promise<never>(() => {});
  }

  /** Stands still, as an event loop that is busy or a process that is stopped. */
  standStill(): void {
    this.#still ??= Promise.withResolvers();
  }

  /** @param suspendedMs how much of the time its machine was suspended */
  goOn(suspendedMs: number): void {
    this.#suspended += suspendedMs;
    const still = this.#still;
    this.#still = undefined;
    still?.resolve();
  }

  end(): void {
    this.#gone = true;
    this.#timers.clear();
  }

  setWallClock(byMs: number): void {
    this.#wall += byMs;
  }

  addTimer(act: () => void, ms: number, every: number | undefined): number {
    const id = this.#nextTimer++;
    if (!this.#gone) this.#timers.set(id, { due: this.clock.monotonic() + ms, every, act });
    return id;
  }

  removeTimer(id: number): void {
    this.#timers.delete(id);
  }

  /** In true time, when its next timer is due; Infinity for none, and while it stands still. */
  nextDue(): number {
    let next = Number.POSITIVE_INFINITY;
    if (!this.runs) return next;
    for (const { due } of this.#timers.values()) next = Math.min(next, due);
    return next + this.#suspended;
  }

  /** Fires the timer that has been due for longest, where one is. */
  fire(): void {
    let first: readonly [id: number, timer: Timer] | undefined;
    for (const entry of this.#timers) {
      if (first === undefined || entry[1].due < first[1].due) first = entry;
    }
    if (!this.runs || first === undefined) return;
    const [id, timer] = first;
    const now = this.clock.monotonic();
    if (timer.due > now) return;
    if (timer.every === undefined) this.#timers.delete(id);
    else timer.due = Math.max(timer.due + timer.every, now);
    this.run(timer.act);
  }
}
