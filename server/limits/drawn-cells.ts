import type { DrawnRequests, LimitDraw } from "../../domain/access/limit-draw.ts";
import { DrawTurns, LateTurnError } from "./draw-turns.ts";
import { AGAIN_MS, type HeldLimit } from "./held-limit.ts";

/** A request waits for the database so long at most, and the next ones do not wait for this long. */
const ANSWER_MS = 500;
const AWAY_MS = 1_000;

/** What asks the cells. */
export type DrawnCellsDeps = {
  /**
   * Draws from the cells that all replicas share, of which none is there twice. Nothing comes of those that another
   * transaction has locked.
   */
  readonly draw: (draws: readonly LimitDraw[]) => Promise<ReadonlyMap<string, DrawnRequests>>;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonic: () => number;
};

/** What of a draw its limit does not say. */
type Amount = Pick<LimitDraw, "wanted" | "areUsed">;

/** The cells of limits in the database, each of which is asked one thing at a time. */
export class DrawnCells {
  readonly #deps: DrawnCellsDeps;
  readonly #turns: DrawTurns<LimitDraw, DrawnRequests | null>;
  /** Until then the database is not asked, and this thread's part of each limit holds. */
  #awayUntil = 0;

  constructor(deps: DrawnCellsDeps) {
    this.#deps = deps;
    const ask = async (draws: readonly LimitDraw[]) => {
      const cells = await deps.draw(draws);
      return draws.map(({ limitId }) => cells.get(limitId) ?? null);
    };
    this.#turns = new DrawTurns({ ask, answerMs: ANSWER_MS });
  }

  /** Whether a cell is not asked: the database does not answer, or another transaction has the cell locked. */
  isAway({ lockedUntil }: HeldLimit, now: number): boolean {
    return now < this.#awayUntil || now < lockedUntil;
  }

  /**
   * Resolves with what the cell gave.
   *
   * @param amount is asked for as the draw is sent, after what was asked of the cell before
   * @throws LockedCellError where another transaction has the cell: nothing was drawn
   * @throws what the statement has failed with. From then on the database is away, or the cell has nothing for now.
   */
  ask(held: HeldLimit, amount: () => Amount): Promise<DrawnRequests> {
    const before = held.sent ?? Promise.resolve();
    const answer = before.then(() => this.#askNow(held, amount));
    const over = (): void => {
      if (held.sent === sent) held.sent = undefined;
    };
    const sent = answer.then(over, over);
    held.sent = sent;
    return answer;
  }

  async #askNow(held: HeldLimit, amount: () => Amount): Promise<DrawnRequests> {
    // One wait is enough: who waits behind it has the part.
    if (this.isAway(held, this.#deps.monotonic())) throw new Error("the cell did not answer");
    const { limitId, teamId } = held;
    try {
      const drawn = await this.#turns.draw(teamId, () => ({ limitId, limit: held.limit, ...amount() }));
      if (drawn === null) throw new LockedCellError();
      return drawn;
    } catch (error) {
      const now = this.#deps.monotonic();
      // The others have been drawn from.
      if (error instanceof LockedCellError) held.lockedUntil = now + AWAY_MS;
      // A team that asks for too much at once has no part beside it.
      else if (error instanceof LateTurnError && error.isOwn) held.emptyUntil = now + AGAIN_MS;
      else this.#awayUntil = now + AWAY_MS;
      throw error;
    }
  }
}

/** Another transaction has the cell locked: nothing was drawn. */
export class LockedCellError extends Error {
  constructor() {
    super("another transaction has the cell locked");
    this.name = "LockedCellError";
  }
}
