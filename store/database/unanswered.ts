import { sql } from "kysely";
import { PREPARED } from "./prepared-statement.ts";

const UNANSWERED = `${PREPARED} /* unanswered */`;
/**
 * Begins a statement of a transaction whose answer nothing is made of, such as one that sets something. The next one is
 * sent without a wait for it: an answer costs a turn of a busy event loop. It is planned once, as one that is prepared.
 */
export const unansweredStatement = sql.raw(UNANSWERED);

/** Whether a statement is one of these, by its text. */
export function isUnanswered(text: string): boolean {
  return text.startsWith(UNANSWERED);
}

/** The answers on a connection that nothing waits for. */
export class UnansweredStatements {
  #answers: Promise<unknown>[] = [];

  add(answer: Promise<unknown>): void {
    answer.catch(() => {
      // What is asked next has this error.
    });
    this.#answers.push(answer);
  }

  /** The answer to what was sent behind them: it fails where one of them does, by that one's error. */
  async before<T>(answer: Promise<T>): Promise<T> {
    const answers = this.#answers;
    this.#answers = [];
    const [answered] = await Promise.all([answer, ...answers]);
    return answered;
  }
}
