import { Socket } from "node:net";
import pg from "pg";
import { errorText } from "../../../domain/error-text.ts";
import { DatabaseLocationError, DatabaseUnavailableError, sqlState } from "../errors.ts";
import { preparedName } from "../prepared-statement.ts";
import { isUnanswered, UnansweredStatements } from "../unanswered.ts";
import { requestCancel } from "./cancel-request.ts";
import { END_SESSION } from "./session.ts";

/** Adds a name to a statement that pg is to prepare; returns the arguments of all other statements as they are. */
function prepared(args: readonly unknown[]): readonly unknown[] {
  const [text, values] = args;
  if (typeof text !== "string") return args;
  const name = preparedName(text);
  return name === undefined ? args : [{ name, text, values }];
}

/** Socket of a client that has no location to connect to: a pool treats that like a server that does not answer. */
class NoSocket extends Socket {
  readonly #reason: Error;

  constructor(reason: Error) {
    super();
    this.#reason = reason;
  }

  override connect(): this {
    return this.destroy(this.#reason);
  }
}

/** SQLSTATE of a write to a standby, or in a session that is read-only. */
const TAKES_NO_WRITES = "25006";

/** Statement by which Kysely begins a transaction that only reads. */
const BEGIN_READ_ONLY = "start transaction read only";
const NO_ANSWER = { command: "", rowCount: null, rows: [] };

export type TimeoutClientOptions = pg.ClientConfig & {
  /** Returns the configuration of this one connection. */
  readonly locate?: () => pg.ClientConfig;
  /** Called when its database is found to take no writes any more. */
  readonly onFenced?: () => void;
};

/**
 * Client of a pool that gives up its socket when an answer does not come. Otherwise a dead connection would go back to
 * the pool, and TCP alone takes a quarter of an hour to find out (threats c40). The location is read for each new
 * client, so that a pool continues with another password or another address (threats c74).
 */
export class TimeoutClient extends pg.Client {
  constructor({ locate = () => ({}), onFenced = () => {}, ...options }: TimeoutClientOptions = {}) {
    const located = orError(locate);
    const isLocated = !(located instanceof Error);
    const config = isLocated ? located : {};
    const socket = isLocated ? new Socket() : new NoSocket(located);
    super({ ...options, ...config, stream: () => socket });
    this.#ssl = config.ssl;
    this.#onFenced = onFenced;
    this.on("error", () => {
      // The query's caller gets the error; the pool drops the client. Unhandled, the event would end the process.
    });
    this.#giveUp = (error) => {
      // Notifies the pool at once; the socket's own end comes only after the pool has taken the client back.
      this.end().catch(() => {});
      socket.destroy();
      // Where the pool has it back already.
      this.emit("error", error);
    };
  }

  readonly #giveUp: (error: Error) => void;
  readonly #ssl: pg.ClientConfig["ssl"];
  readonly #onFenced: () => void;

  /**
   * Ends the running query, at the server and here. Its connection ends with it, so that a late cancellation cannot hit
   * the query of another caller.
   */
  abandon(): void {
    requestCancel(this, this.#ssl);
    this.#giveUp(new Error("the query was abandoned"));
  }

  #onlyReads = false;
  #unanswered = new UnansweredStatements();

  // pg's own signature is a set of overloads over callbacks, promises and cursors; all are passed through as they come.
  override query(...args: unknown[]): never {
    const asked: unknown = Reflect.apply(super.query, this, prepared(args));
    if (!(asked instanceof Promise)) return asked as never;
    const answer = asked.catch((error: unknown) => {
      if (error instanceof Error && error.message === "Query read timeout") this.#giveUp(error);
      const [known, state] = [asUnavailable(error), sqlState(error) ?? ""];
      if (state === TAKES_NO_WRITES) this.#onFenced();
      return LEFT.has(state) ? this.#leave(known) : Promise.reject(known);
    });
    return this.#inTransaction(args[0], answer) as never;
  }

  /** Ends a session that is of no more use, so that neither the pool nor a pooler gives it to another caller. */
  async #leave(error: unknown): Promise<never> {
    const ended: unknown = Reflect.apply(super.query, this, [END_SESSION]);
    if (ended instanceof Promise) await ended.catch(() => {});
    this.#giveUp(error instanceof Error ? error : new Error("the session was left"));
    throw error;
  }

  /**
   * Returns the answer that a caller waits for. A caller does not wait for the statements that begin a transaction, nor
   * for the end of a transaction that only read: its results are there, and the connection's next statement comes after
   * the end.
   */
  async #inTransaction(text: unknown, answer: Promise<unknown>): Promise<unknown> {
    const hasOnlyRead = this.#onlyReads;
    if (text === BEGIN_READ_ONLY) this.#onlyReads = true;
    if (text === "commit" || text === "rollback") this.#onlyReads = false;
    if (text === "commit" && hasOnlyRead) {
      this.#unanswered = new UnansweredStatements();
      // On an error the transaction may still be open, and would contain the next caller's statements (threats c90).
      answer.catch(this.#giveUp);
      return NO_ANSWER;
    }
    if (text === BEGIN_READ_ONLY || (typeof text === "string" && isUnanswered(text))) {
      this.#unanswered.add(answer);
      return NO_ANSWER;
    }
    return this.#unanswered.before(answer);
  }
}

/**
 * Returns an error of `locate`: thrown by a client's constructor, it would break the pool in the middle of its work.
 */
function orError(locate: () => pg.ClientConfig): pg.ClientConfig | Error {
  try {
    return locate();
  } catch (error) {
    return error instanceof Error ? error : new DatabaseLocationError(errorText(error));
  }
}

/** SQLSTATE of a statement that was ended by its timeout or by a request. */
export const CANCELLED = "57014";
/** SQLSTATEs of a server that gave up, ended a session, shuts down, starts or is full; and of broken connections. */
const AWAY: ReadonlySet<string> = new Set([
  CANCELLED,
  "25P03",
  "25P04",
  "57P01",
  "57P02",
  "57P03",
  "57P04",
  "57P05",
  "53300",
]);
/**
 * SQLSTATEs after which a session is of no use, with what they say of the database. It is a standby or read-only, and
 * the session may stay so when the database does not; or the session is not the one in which statements were prepared
 * (threats c92).
 */
const LEFT: ReadonlyMap<string, string> = new Map([
  [TAKES_NO_WRITES, "takes no writes"],
  ["26000", "has put another session in this one's place"],
  ["42P05", "has put another session in this one's place"],
]);
const BROKEN_CONNECTION = /^08/;

/**
 * Converts an error after which the database counts as unavailable to a DatabaseUnavailableError. An error that the
 * server itself reports on a statement stays as it is.
 */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof DatabaseUnavailableError)
    return error;
  const state = error instanceof pg.DatabaseError ? (sqlState(error) ?? "") : undefined;
  const left = LEFT.get(state ?? "");
  if (state !== undefined && left === undefined && !AWAY.has(state) && !BROKEN_CONNECTION.test(state)) return error;
  const what = left ?? "does not answer";
  return new DatabaseUnavailableError(`the database ${what}: ${error.message || sqlState(error)}`, { cause: error });
}

/**
 * Converts an error of an attempt to connect, like {@link asUnavailable}. A server that refuses a password counts as
 * unavailable too: it may accept the password that is read for the next attempt (threats c74).
 */
export function asUnavailableOrRefused(error: unknown): unknown {
  const known = asUnavailable(error);
  if (known !== error || !(error instanceof pg.DatabaseError)) return known;
  return new DatabaseUnavailableError(`the database refuses the connection: ${error.message}`, { cause: error });
}
