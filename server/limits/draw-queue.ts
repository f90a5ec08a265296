import { answerWithin } from "../../runtime/deadline.ts";

/** Statements that are under way at a time, at most. */
const MOST_STATEMENTS = 2;
/** Requests in one statement at most: it is over soon, and the next one has those that have come meanwhile. */
const MOST_DRAWS = 25;

type DrawQueueDeps<Draw, Answer> = {
  /** Asks by one statement. Resolves to the answers in the order of the requests. */
  readonly ask: (draws: readonly Draw[]) => Promise<readonly (Answer | undefined)[]>;
  /** Milliseconds that a statement may take, and that a request waits for its slot. */
  readonly answerMs: number;
};

type QueuedDraw<Draw, Answer> = {
  readonly makeDraw: () => Draw;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  readonly late: NodeJS.Timeout;
};

/** Error for a request whose slot has not come in time, while the database answers those before it. */
export class LateDrawError extends Error {
  /** True if it has waited behind others of its own queue. */
  readonly isOwn: boolean;

  constructor(isOwn: boolean) {
    super("the turn has not come in time");
    this.name = "LateDrawError";
    this.isOwn = isOwn;
  }
}

/**
 * Asks the database for what calls want of budgets and limits: several requests by one statement, and the queues of
 * teams in turn, so that a team's many wait as long as another team's one. So a team with however many of them takes
 * two connections, and the others' calls wait for two statements at most (threats b152, b176).
 */
export class DrawQueue<Draw, Answer> {
  readonly #deps: DrawQueueDeps<Draw, Answer>;
  /** Requests that wait, by their queue; first the queue that was served longest ago. */
  readonly #queues = new Map<string, QueuedDraw<Draw, Answer>[]>();
  #underWay = 0;
  /** Number of statements under way that nothing waits for any more. */
  #late = 0;

  constructor(deps: DrawQueueDeps<Draw, Answer>) {
    this.#deps = deps;
  }

  /**
   * Sends a request as soon as it has a slot.
   *
   * @param queue queue of the request: that of its team, or of what teams share
   * @param makeDraw makes the request as it is sent; there is one at a time of what no statement may have twice
   * @throws LateDrawError if it was not sent in time
   * @throws the error of its statement, or of a statement that was sent before it; at once while as many statements as
   *   may be under way are late
   */
  async draw(queue: string, makeDraw: () => Draw): Promise<Answer> {
    if (this.#late === MOST_STATEMENTS) throw new Error("the database has not answered the statements before");
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const waiting = this.#queues.get(queue) ?? [];
    const isOwn = waiting.length > 0;
    const late = setTimeout(() => this.#giveUp(queue, one, isOwn), this.#deps.answerMs);
    const one = { makeDraw, resolve, reject, late };
    waiting.push(one);
    this.#queues.set(queue, waiting);
    this.#goOn();
    return promise;
  }

  /** Refuses what waits: its calls are over. */
  end(): void {
    this.#refuseWaiting(new Error("this thread asks for no more"));
  }

  #giveUp(queue: string, one: QueuedDraw<Draw, Answer>, isOwn: boolean): void {
    const waiting = this.#queues.get(queue) ?? [];
    waiting.splice(waiting.indexOf(one), 1);
    if (waiting.length === 0) this.#queues.delete(queue);
    one.reject(new LateDrawError(isOwn));
  }

  #refuseWaiting(error: unknown): void {
    const waiting = [...this.#queues.values()].flat();
    this.#queues.clear();
    for (const { reject, late } of waiting) {
      clearTimeout(late);
      reject(error);
    }
  }

  #goOn(): void {
    while (this.#underWay < MOST_STATEMENTS && this.#queues.size > 0) void this.#send(this.#next());
  }

  #next(): QueuedDraw<Draw, Answer>[] {
    const next: QueuedDraw<Draw, Answer>[] = [];
    for (const [queue, waiting] of this.#queues) {
      if (next.length === MOST_DRAWS) break;
      // Those that are put last here are met again.
      this.#queues.delete(queue);
      next.push(...waiting.splice(0, 1));
      if (waiting.length > 0) this.#queues.set(queue, waiting);
    }
    return next;
  }

  async #send(sent: readonly QueuedDraw<Draw, Answer>[]): Promise<void> {
    this.#underWay++;
    for (const { late } of sent) clearTimeout(late);
    const asked = this.#asked(sent);
    try {
      const answers = await answerWithin(this.#deps.answerMs, asked);
      for (const [position, { resolve, reject }] of sent.entries()) {
        const answer = answers[position];
        if (answer === undefined) reject(new Error("the database gave no answer to a line"));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of sent) reject(error);
      // Those that wait would wait as long: one wait is enough.
      this.#refuseWaiting(error);
      // One that is late has its connection until it ends.
      this.#late++;
      await asked.catch(ignore);
      this.#late--;
    } finally {
      this.#underWay--;
      this.#goOn();
    }
  }

  /** Sends requests. Async, so that a request that cannot be made is a statement that fails. */
  async #asked(sent: readonly QueuedDraw<Draw, Answer>[]): Promise<readonly (Answer | undefined)[]> {
    return this.#deps.ask(sent.map(({ makeDraw }) => makeDraw()));
  }
}

const ignore = (): void => {};
