import { MemoryBusyError } from "./errors.ts";

export type ShareLimits = {
  /** Calls that run at a time, of all teams and of one. */
  readonly running: number;
  readonly runningPerTeam: number;
  /** Calls that wait for their turn, of all teams and of one. */
  readonly waiting: number;
  readonly waitingPerTeam: number;
};

type Team = { running: number; readonly waiting: Set<() => void> };

/** Who of many teams may run next: the teams take turns, none has more than its share, and few wait. */
export class TeamShare {
  readonly #limits: ShareLimits;
  /** Of the teams that run or wait, the one first whose turn is longest ago. */
  readonly #teams = new Map<string, Team>();
  #running = 0;
  #waiting = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves when the team may run a call; {@link leave} ends it.
   *
   * @param signal gives the place up, with the signal's reason
   * @throws MemoryBusyError when too many wait already
   */
  async enter(teamId: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const team = this.#teams.get(teamId) ?? { running: 0, waiting: new Set() };
    const { running, runningPerTeam, waiting, waitingPerTeam } = this.#limits;
    if (this.#running < running && team.running < runningPerTeam) return this.#run(teamId, team);
    if (team.waiting.size >= waitingPerTeam) throw new MemoryBusyError("team");
    if (this.#waiting >= waiting) throw new MemoryBusyError("all");
    this.#teams.set(teamId, team);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    team.waiting.add(resolve);
    this.#waiting++;
    const giveUp = () => {
      if (!team.waiting.delete(resolve)) return;
      this.#waiting--;
      this.#forget(teamId, team);
      reject(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  leave(teamId: string): void {
    const left = this.#teams.get(teamId);
    if (left === undefined) return;
    left.running--;
    this.#running--;
    this.#putLast(teamId, left);
    this.#forget(teamId, left);
    for (const [nextId, team] of this.#teams) {
      const [start] = team.waiting;
      if (start === undefined || team.running >= this.#limits.runningPerTeam) continue;
      team.waiting.delete(start);
      this.#waiting--;
      this.#run(nextId, team);
      start();
      return;
    }
  }

  #run(teamId: string, team: Team): void {
    team.running++;
    this.#running++;
    this.#putLast(teamId, team);
  }

  /** The others' turns come first. */
  #putLast(teamId: string, team: Team): void {
    this.#teams.delete(teamId);
    this.#teams.set(teamId, team);
  }

  #forget(teamId: string, { running, waiting }: Team): void {
    if (running === 0 && waiting.size === 0) this.#teams.delete(teamId);
  }
}
