import { answerWithin } from "../../runtime/deadline.ts";
import type { LedgerAnswer, LedgerLine } from "../../store/budgets/budget-ledger.ts";

/** Statements that are under way at a time. */
const MOST_STATEMENTS = 2;
/** What one statement asks for at most: it is over soon, and the next one has those that have come meanwhile. */
const MOST_LINES = 25;

type DrawTurnsDeps = {
  readonly write: (lines: readonly LedgerLine[]) => Promise<readonly LedgerAnswer[]>;
  /** How long a statement may take, in milliseconds. */
  readonly answerMs: number;
};

type Waiting = {
  readonly line: () => LedgerLine;
  readonly resolve: (answer: LedgerAnswer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Asks the ledger for what calls want of budgets: of several by one statement, and of few teams' many no sooner than of
 * another team's one. So a team with however many budgets takes two connections, and the others' calls wait for two
 * statements at most (threats b152).
 */
export class DrawTurns {
  readonly #deps: DrawTurnsDeps;
  /** Those that wait by whose turn it is, the one first whose turn is longest ago. */
  readonly #turns = new Map<string, Waiting[]>();
  #underWay = 0;
  /** Of those the ones that nothing waits for any more. */
  #late = 0;

  constructor(deps: DrawTurnsDeps) {
    this.#deps = deps;
  }

  /**
   * @param turn of which team it is, or of what teams share: each has turns of its own
   * @param line is made as it is sent; of one budget and period there is one at a time
   * @throws what its statement has failed with, or one that was sent before it; at once while as many as may be under
   *   way are late
   */
  async draw(turn: string, line: () => LedgerLine): Promise<LedgerAnswer> {
    if (this.#late === MOST_STATEMENTS) throw new Error("the ledger has not answered the statements before");
    const { promise, resolve, reject } = Promise.withResolvers<LedgerAnswer>();
    const waiting = this.#turns.get(turn) ?? [];
    waiting.push({ line, resolve, reject });
    this.#turns.set(turn, waiting);
    this.#goOn();
    return promise;
  }

  /** Has what waits asked for no more: its calls are over. */
  end(): void {
    this.#refuseWaiting(new Error("this thread's budgets are given back"));
  }

  #refuseWaiting(error: unknown): void {
    const waiting = [...this.#turns.values()].flat();
    this.#turns.clear();
    for (const { reject } of waiting) reject(error);
  }

  #goOn(): void {
    while (this.#underWay < MOST_STATEMENTS && this.#turns.size > 0) void this.#send(this.#next());
  }

  #next(): Waiting[] {
    const next: Waiting[] = [];
    for (const [turn, waiting] of this.#turns) {
      if (next.length === MOST_LINES) break;
      // Those that are put last here are met again.
      this.#turns.delete(turn);
      next.push(...waiting.splice(0, 1));
      if (waiting.length > 0) this.#turns.set(turn, waiting);
    }
    return next;
  }

  async #send(sent: readonly Waiting[]): Promise<void> {
    this.#underWay++;
    const written = this.#written(sent);
    try {
      const answers = await answerWithin(this.#deps.answerMs, written);
      for (const [place, { resolve, reject }] of sent.entries()) {
        const answer = answers[place];
        if (answer === undefined) reject(new Error("the ledger gave no answer to a line"));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of sent) reject(error);
      // Those that wait would wait as long: one wait is enough.
      this.#refuseWaiting(error);
      // One that is late has its connection until it ends.
      this.#late++;
      await written.catch(ignore);
      this.#late--;
    } finally {
      this.#underWay--;
      this.#goOn();
    }
  }

  /** Async, so that a line that cannot be made is a statement that fails. */
  async #written(sent: readonly Waiting[]): Promise<readonly LedgerAnswer[]> {
    return this.#deps.write(sent.map(({ line }) => line()));
  }
}

const ignore = (): void => {};
