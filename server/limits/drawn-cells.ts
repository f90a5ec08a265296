import type { DrawnRequests, LimitDraw } from "../../domain/access/limit-draw.ts";
import { DrawQueue, LateDrawError } from "./draw-queue.ts";
import { AGAIN_MS, type HeldLimit } from "./held-limit.ts";

/** Milliseconds that a request waits for the database at most; below, those for which the next ones do not wait. */
const ANSWER_MS = 500;
const AWAY_MS = 1_000;

/** Parts that ask the cells. */
export type DrawnCellsDeps = {
  /**
   * Draws from cells that all replicas share; `draws` names no cell twice. A cell that another transaction has locked
   * is not in the result.
   */
  readonly draw: (draws: readonly LimitDraw[]) => Promise<ReadonlyMap<string, DrawnRequests>>;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonic: () => number;
};

/** Amount of a draw, which its limit does not say. */
type Amount = Pick<LimitDraw, "wanted" | "areUsed">;

/** Cells of limits in the database, each of which is asked one thing at a time. */
export class DrawnCells {
  readonly #deps: DrawnCellsDeps;
  readonly #queue: DrawQueue<LimitDraw, DrawnRequests | null>;
  /** Time until which the database is not asked, and this thread's share of each limit applies. */
  #awayUntil = 0;

  constructor(deps: DrawnCellsDeps) {
    this.#deps = deps;
    const ask = async (draws: readonly LimitDraw[]) => {
      const cells = await deps.draw(draws);
      return draws.map(({ limitId }) => cells.get(limitId) ?? null);
    };
    this.#queue = new DrawQueue({ ask, answerMs: ANSWER_MS });
  }

  /** True if a cell is not asked: the database does not answer, or another transaction has the cell locked. */
  isAway({ lockedUntil }: HeldLimit, now: number): boolean {
    return now < this.#awayUntil || now < lockedUntil;
  }

  /**
   * Draws from a cell, and resolves with what the cell gave.
   *
   * @param amount called as the draw is sent, after what was asked of the cell before
   * @throws LockedCellError if another transaction has the cell: nothing was drawn
   * @throws the error of the statement. From then on the database is away, or the cell has nothing for now
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
    // One wait is enough: the requests behind it have this thread's share.
    if (this.isAway(held, this.#deps.monotonic())) throw new Error("the cell did not answer");
    const { limitId, teamId } = held;
    try {
      const drawn = await this.#queue.draw(teamId, () => ({ limitId, limit: held.limit, ...amount() }));
      if (drawn === null) throw new LockedCellError();
      return drawn;
    } catch (error) {
      const now = this.#deps.monotonic();
      // The other cells of the statement have been drawn from.
      if (error instanceof LockedCellError) held.lockedUntil = now + AWAY_MS;
      // A team that asks for too much at once has no share beside it.
      else if (error instanceof LateDrawError && error.isOwn) held.emptyUntil = now + AGAIN_MS;
      else this.#awayUntil = now + AWAY_MS;
      throw error;
    }
  }
}

/** Error for a cell that another transaction has locked: nothing was drawn. */
export class LockedCellError extends Error {
  constructor() {
    super("another transaction has the cell locked");
    this.name = "LockedCellError";
  }
}
