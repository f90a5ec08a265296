import { MemoryBusyError } from "./errors.ts";

export type ShareLimits = {
  /** Calls that run at a time, of all teams and of one. */
  readonly running: number;
  readonly runningPerTeam: number;
  /** Calls that wait for their turn, of all teams and of one. */
  readonly waiting: number;
  readonly waitingPerTeam: number;
};

type Team = {
  running: number;
  /** Of those that run, the urgent ones. */
  urgentRunning: number;
  readonly waiting: Set<() => void>;
  /** Those that go before the others of the team, and how many of them have begun in a row. */
  readonly urgent: Set<() => void>;
  urgentInARow: number;
  /** How long its calls take, in milliseconds: a mean in which a call counts by its length. */
  length: number;
  /** What its calls have taken, in milliseconds, from where the others were when it came. */
  taken: number;
  /** When its last call ended, by the clock. */
  lastAt: number;
};

/** Beside others, a team's calls run at once while what they take together stays below this, in milliseconds. */
const LENGTH_AT_ONCE_MS = 60;
/** What the mean of a team's calls goes by: its calls of about this time. */
const REMEMBERED_MS = 250;
/** Beyond its share a team runs so many urgent calls, which else would wait for the long ones of its own. */
const URGENT_PLACES = 1;
/** After so many urgent calls in a row another one of the team has a turn, so that none starves (threats b353). */
const MAX_URGENT_IN_A_ROW = 3;
/** A team that has asked within this time is beside the others. */
const PRESENT_MS = 2_000;

/**
 * Who of many teams may run next: the one whose calls have taken the least time, none more at once than its share, and
 * few wait. Turns by count would have a team's every short call wait for a long one of another. A team whose calls are
 * long runs fewer at once while other teams ask too, one at least: a long call keeps a core of the database busy.
 */
export class TeamShare {
  readonly #limits: ShareLimits;
  readonly #now: () => number;
  /** Of the teams that run, wait or have asked lately, the one first whose turn is longest ago. */
  readonly #teams = new Map<string, Team>();
  #running = 0;
  #waiting = 0;
  /** What the team had taken that ran last: one that comes begins there, and has saved nothing up. */
  #taken = 0;

  /** @param now a clock that never goes back, in milliseconds */
  constructor(limits: ShareLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Resolves when the team may run a call; {@link leave} ends it.
   *
   * @param signal gives the place up, with the signal's reason
   * @param isUrgent whether it goes before the team's other calls, however many of them wait (threats b154); they have one
   *   of four turns all the same
   * @throws MemoryBusyError when too many wait already
   */
  async enter(teamId: string, signal: AbortSignal, isUrgent = false): Promise<void> {
    signal.throwIfAborted();
    this.#forgetAbsent();
    const team = this.#teams.get(teamId) ?? {
      running: 0,
      urgentRunning: 0,
      waiting: new Set(),
      urgent: new Set(),
      urgentInARow: 0,
      length: 0,
      taken: 0,
      lastAt: this.#now(),
    };
    if (team.running === 0 && !hasWaiting(team)) team.taken = Math.max(team.taken, this.#taken);
    const { running, waiting, waitingPerTeam } = this.#limits;
    const line = lineOf(team, isUrgent);
    const isNext = line.size === 0 && (isUrgent || team.urgent.size === 0) && this.#hasPlace(teamId, team, isUrgent);
    if (isNext && this.#running < running) return this.#run(teamId, team, isUrgent);
    if (line.size >= waitingPerTeam) throw new MemoryBusyError("team");
    if (this.#waiting >= waiting) throw new MemoryBusyError("all");
    this.#teams.set(teamId, team);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    line.add(resolve);
    this.#waiting++;
    const giveUp = () => {
      if (!line.delete(resolve)) return;
      this.#waiting--;
      reject(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    // The others may have gone since the last call ended.
    this.#startWaiting();
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /**
   * @param ranMs how long the call ran, in milliseconds
   * @param isUrgent as it has entered
   */
  leave(teamId: string, ranMs: number, isUrgent = false): void {
    const left = this.#teams.get(teamId);
    if (left === undefined) return;
    left.running--;
    if (isUrgent) left.urgentRunning--;
    this.#running--;
    left.taken += ranMs;
    left.length += (ranMs - left.length) * Math.min(1, ranMs / REMEMBERED_MS);
    left.lastAt = this.#now();
    this.#putLast(teamId, left);
    this.#startWaiting();
  }

  /** Starts what has a place now: more than one call where its team's have become shorter, or the others have gone. */
  #startWaiting(): void {
    while (this.#running < this.#limits.running && this.#startNext());
  }

  /** @returns false where none that waits has a place */
  #startNext(): boolean {
    let next: { readonly teamId: string; readonly team: Team; readonly isUrgent: boolean; start(): void } | undefined;
    for (const [teamId, team] of this.#teams) {
      const isUrgent = this.#isUrgentNext(teamId, team);
      const [start] = lineOf(team, isUrgent);
      if (start === undefined || !this.#hasPlace(teamId, team, isUrgent)) continue;
      if (next === undefined || takenBy(team) < takenBy(next.team)) next = { teamId, team, isUrgent, start };
    }
    if (next === undefined) return false;
    const { teamId, team, isUrgent, start } = next;
    lineOf(team, isUrgent).delete(start);
    this.#waiting--;
    this.#run(teamId, team, isUrgent);
    start();
    return true;
  }

  #isUrgentNext(teamId: string, team: Team): boolean {
    const isOthersTurn = team.waiting.size > 0 && team.urgentInARow >= MAX_URGENT_IN_A_ROW;
    return team.urgent.size > 0 && !(isOthersTurn && this.#hasPlace(teamId, team, false));
  }

  #hasPlace(teamId: string, team: Team, isUrgent: boolean): boolean {
    if (isUrgent && team.urgentRunning < URGENT_PLACES) return true;
    return team.running < this.#placesOf(teamId, team);
  }

  #placesOf(teamId: string, { length }: Team): number {
    const { runningPerTeam } = this.#limits;
    const isAlone = this.#teams.size === (this.#teams.has(teamId) ? 1 : 0);
    return isAlone ? runningPerTeam : Math.max(1, Math.min(runningPerTeam, Math.floor(LENGTH_AT_ONCE_MS / length)));
  }

  #run(teamId: string, team: Team, isUrgent: boolean): void {
    this.#taken = Math.max(this.#taken, takenBy(team));
    team.running++;
    team.urgentInARow = isUrgent ? team.urgentInARow + 1 : 0;
    if (isUrgent) team.urgentRunning++;
    this.#running++;
    this.#putLast(teamId, team);
  }

  /** The others' turns come first. */
  #putLast(teamId: string, team: Team): void {
    this.#teams.delete(teamId);
    this.#teams.set(teamId, team);
  }

  #forgetAbsent(): void {
    const since = this.#now() - PRESENT_MS;
    for (const [teamId, team] of this.#teams) {
      if (team.running > 0 || hasWaiting(team)) continue;
      // Those that follow have been here later.
      if (team.lastAt >= since) return;
      this.#teams.delete(teamId);
    }
  }
}

function lineOf({ waiting, urgent }: Team, isUrgent: boolean): Set<() => void> {
  return isUrgent ? urgent : waiting;
}

function hasWaiting({ waiting, urgent }: Team): boolean {
  return waiting.size + urgent.size > 0;
}

/** With what the calls that run will take by its mean. */
function takenBy({ taken, running, length }: Team): number {
  return taken + running * length;
}
