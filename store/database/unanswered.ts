import { sql } from "kysely";
import { PREPARED } from "./prepared-statement.ts";

const UNANSWERED = `${PREPARED} /* unanswered */`;
/**
 * Begins a statement of a transaction whose answer is not used, such as a setting. The next statement is sent without
 * waiting for it: an answer costs an iteration of a busy event loop. It is planned once, like a prepared statement.
 */
export const unansweredStatement = sql.raw(UNANSWERED);

/** True if a statement's text begins so. */
export function isUnanswered(text: string): boolean {
  return text.startsWith(UNANSWERED);
}

/** Answers on a connection that no caller waits for. */
export class UnansweredStatements {
  #answers: Promise<unknown>[] = [];

  add(answer: Promise<unknown>): void {
    answer.catch(() => {
      // What is asked next has this error.
    });
    this.#answers.push(answer);
  }

  /** Waits for an answer, and for the unanswered statements sent before it: fails with the error of any of them. */
  async before<T>(answer: Promise<T>): Promise<T> {
    const answers = this.#answers;
    this.#answers = [];
    const [answered] = await Promise.all([answer, ...answers]);
    return answered;
  }
}
