import type { Clock } from "../../runtime/clock.ts";
import { answerWithin } from "../../runtime/deadline.ts";
import type { Logger } from "../../runtime/log.ts";
import type { ListenConnection } from "../../store/database/store.ts";
import type { Feed } from "./feed.ts";

/** Milliseconds between two pings of the connection: nothing else would show that it is dead. */
const PING_MS = 5_000;
/** Milliseconds that an answer may take: a question that is not answered by then never will be. */
const ANSWER_MS = 2_000;

type ChangeListenerDeps = { readonly feed: Feed; readonly clock: Clock; readonly log: Logger };

/**
 * Keeps the connection that hints at changes. Without it, changes are seen a beat later, and nothing else is different.
 */
export class ChangeListener {
  readonly #deps: ChangeListenerDeps;
  readonly #onHint: () => void;
  #connection: ListenConnection | undefined;
  #tending: Promise<void> | undefined;
  #pingedAt = Number.NEGATIVE_INFINITY;
  #isLost = false;

  /** @param onHint called when something may have changed */
  constructor(deps: ChangeListenerDeps, onHint: () => void) {
    this.#deps = deps;
    this.#onHint = onHint;
  }

  /** Opens the connection if there is none, and pings it now and then. One call at a time; never throws. */
  tend(): Promise<void> {
    this.#tending ??= this.#tend().finally(() => {
      this.#tending = undefined;
    });
    return this.#tending;
  }

  async close(): Promise<void> {
    await this.#tending;
    await this.#connection?.close().catch(() => {});
  }

  async #tend(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      if (this.#connection === undefined) {
        this.#connection = await this.#listen();
        this.#isLost = false;
        // No notification has come of what changed meanwhile.
        this.#onHint();
      } else if (clock.monotonic() - this.#pingedAt >= PING_MS) {
        await answerWithin(ANSWER_MS, this.#connection.ping());
      } else return;
      this.#pingedAt = clock.monotonic();
    } catch (error) {
      const dead = this.#connection;
      this.#connection = undefined;
      await dead?.close().catch(() => {});
      if (!this.#isLost) log.warn({ error }, "the connection that listens for changes is lost; it is opened again");
      this.#isLost = true;
    }
  }

  async #listen(): Promise<ListenConnection> {
    const opening = this.#deps.feed.listen(this.#onHint, () => {
      this.#connection = undefined;
      this.#onHint();
    });
    try {
      return await answerWithin(ANSWER_MS, opening);
    } catch (error) {
      // A connection that opens too late is not used.
      opening.then(
        (connection) => connection.close(),
        () => {},
      );
      throw error;
    }
  }
}
