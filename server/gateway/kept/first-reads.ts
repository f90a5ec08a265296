import { type Problem, problem } from "../../http/problems/problem.ts";

/** Batches of a team whose files are read at a time on a thread, at most. */
const MOST_OF_TEAM = 2;
/** Milliseconds that a call waits for its turn at most. */
const WAIT_MS = 5_000;

/** Part of a response that a turn needs: it ends when the response closes. */
type Closing = { readonly destroyed: boolean; once(event: "close", listener: () => void): unknown };

/** Digests of a team's objects whose files are being read, and what to call when one of these turns ends. */
type Team = { readonly reading: Set<string>; readonly waiting: Set<() => void> };

/**
 * Turns of the readings of batches' files, before a batch begins and for the first time of its results, which cost a
 * thread as much as the file has bytes: one of each at a time, and few of a team. The others wait for it.
 */
export class FirstReads {
  readonly #teams = new Map<string, Team>();
  readonly #waitMs: number;

  constructor(waitMs = WAIT_MS) {
    this.#waitMs = waitMs;
  }

  /**
   * Waits for the turn to read a file.
   *
   * @param isCharged finds whether the file is charged: then no turn is needed
   * @param response response of the call: the turn ends when it closes, at the latest
   * @returns the function that ends the turn, true if none is needed, or the problem to answer
   */
  async take(
    teamId: string,
    digest: string,
    response: Closing,
    isCharged: () => Promise<boolean | Problem>,
  ): Promise<(() => void) | true | Problem> {
    const until = performance.now() + this.#waitMs;
    for (;;) {
      const charged = await isCharged();
      if (charged !== false) return charged;
      if (response.destroyed) return BUSY;
      const team = this.#teams.get(teamId) ?? { reading: new Set(), waiting: new Set() };
      if (team.reading.size < MOST_OF_TEAM && !team.reading.has(digest)) {
        const end = this.#begin(teamId, team, digest, response);
        // Another turn may have ended since it was asked.
        const isLate = await isCharged();
        if (isLate === false) return end;
        end();
        return isLate;
      }
      if (!(await nextEnd(team, until - performance.now()))) return BUSY;
    }
  }

  #begin(teamId: string, team: Team, digest: string, response: Closing): () => void {
    this.#teams.set(teamId, team);
    team.reading.add(digest);
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      team.reading.delete(digest);
      if (team.reading.size === 0) this.#teams.delete(teamId);
      for (const go of team.waiting) go();
    };
    response.once("close", end);
    return end;
  }
}

/** Waits for the end of a turn; resolves to false if none has ended in that time. */
async function nextEnd({ waiting }: Team, milliseconds: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const go = (): void => resolve(true);
  const late = setTimeout(resolve, Math.max(0, milliseconds), false);
  waiting.add(go);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    waiting.delete(go);
  }
}

const BUSY = problem("unavailable", "Files of the team's batches are being read: try again.");
