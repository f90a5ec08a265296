import { MemoryBusyError } from "./errors.ts";

export type ShareLimits = {
  /** Maximum number of calls that run at a time, of all teams and of one team. */
  readonly running: number;
  readonly runningPerTeam: number;
  /** Maximum number of calls that wait for a slot, of all teams and of one team. */
  readonly waiting: number;
  readonly waitingPerTeam: number;
};

type Team = {
  running: number;
  /** Number of running calls that are urgent. */
  urgentRunning: number;
  readonly waiting: Set<() => void>;
  /** Waiting callers that go before the team's others, and the number of urgent calls that have begun in a row. */
  readonly urgent: Set<() => void>;
  urgentInARow: number;
  /** Mean length of its calls, in milliseconds. A long call has more weight than a short one. */
  length: number;
  /** Milliseconds that its calls have taken, counted from the level of the other teams when the team came. */
  taken: number;
  /** Time at which its last call ended, by the clock. */
  lastAt: number;
};

/** Milliseconds that a team's concurrent calls may take together while other teams are present. */
const LENGTH_AT_ONCE_MS = 60;
/** Milliseconds of a team's latest calls that its mean goes by. */
const REMEMBERED_MS = 250;
/** Number of urgent calls that a team runs beyond its share, as they would otherwise wait for its own long calls. */
const URGENT_SLOTS = 1;
/** Number of urgent calls in a row after which another call of the team runs, so that none starves (threats b353). */
const MAX_URGENT_IN_A_ROW = 3;
/** Milliseconds since its last call for which a team counts as present beside the others. */
const PRESENT_MS = 2_000;

/**
 * Decides which of many teams runs a call next: the team whose calls have taken the least time. No team runs more calls
 * at once than its share, and only few calls wait. If teams took slots by count, every short call of a team would wait
 * for a long call of another. A team with long calls runs fewer at once while other teams ask too, but one at least: a
 * long call keeps a core of the database busy.
 */
export class TeamShare {
  readonly #limits: ShareLimits;
  readonly #now: () => number;
  /** Teams that run, wait or have asked lately. The team whose last call began or ended longest ago comes first. */
  readonly #teams = new Map<string, Team>();
  #running = 0;
  #waiting = 0;
  /** Milliseconds that the last team to run had taken. A team that comes begins there, and has saved up nothing. */
  #taken = 0;

  /** @param now a clock that never goes back, in milliseconds */
  constructor(limits: ShareLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Waits until the team may run a call; {@link leave} ends the call.
   *
   * @param signal leaves the queue, with the signal's reason
   * @param isUrgent true if the call goes before the team's other calls, however many of them wait (threats b154).
   *   Those still have one of four slots
   * @throws MemoryBusyError if too many wait already
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
    const queue = queueOf(team, isUrgent);
    const isNext = queue.size === 0 && (isUrgent || team.urgent.size === 0) && this.#hasSlot(teamId, team, isUrgent);
    if (isNext && this.#running < running) return this.#run(teamId, team, isUrgent);
    if (queue.size >= waitingPerTeam) throw new MemoryBusyError("team");
    if (this.#waiting >= waiting) throw new MemoryBusyError("all");
    this.#teams.set(teamId, team);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queue.add(resolve);
    this.#waiting++;
    const giveUp = () => {
      if (!queue.delete(resolve)) return;
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
   * Ends a call.
   *
   * @param ranMs milliseconds that the call ran
   * @param isUrgent as given to {@link enter}
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

  /** Starts waiting calls that have a slot now: several if a team's calls have become shorter, or other teams left. */
  #startWaiting(): void {
    while (this.#running < this.#limits.running && this.#startNext());
  }

  /**
   * Starts the next waiting call.
   *
   * @returns false if no waiting call has a slot
   */
  #startNext(): boolean {
    let next: { readonly teamId: string; readonly team: Team; readonly isUrgent: boolean; start(): void } | undefined;
    for (const [teamId, team] of this.#teams) {
      const isUrgent = this.#isUrgentNext(teamId, team);
      const [start] = queueOf(team, isUrgent);
      if (start === undefined || !this.#hasSlot(teamId, team, isUrgent)) continue;
      if (next === undefined || takenBy(team) < takenBy(next.team)) next = { teamId, team, isUrgent, start };
    }
    if (next === undefined) return false;
    const { teamId, team, isUrgent, start } = next;
    queueOf(team, isUrgent).delete(start);
    this.#waiting--;
    this.#run(teamId, team, isUrgent);
    start();
    return true;
  }

  #isUrgentNext(teamId: string, team: Team): boolean {
    const areOthersNext = team.waiting.size > 0 && team.urgentInARow >= MAX_URGENT_IN_A_ROW;
    return team.urgent.size > 0 && !(areOthersNext && this.#hasSlot(teamId, team, false));
  }

  #hasSlot(teamId: string, team: Team, isUrgent: boolean): boolean {
    if (isUrgent && team.urgentRunning < URGENT_SLOTS) return true;
    return team.running < this.#slotsOf(teamId, team);
  }

  #slotsOf(teamId: string, { length }: Team): number {
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

  /** Moves a team behind the others. */
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

function queueOf({ waiting, urgent }: Team, isUrgent: boolean): Set<() => void> {
  return isUrgent ? urgent : waiting;
}

function hasWaiting({ waiting, urgent }: Team): boolean {
  return waiting.size + urgent.size > 0;
}

/** Returns the time that a team has taken, including its running calls at their mean length. */
function takenBy({ taken, running, length }: Team): number {
  return taken + running * length;
}
