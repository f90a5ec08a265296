import { Socket } from "node:net";
import pg from "pg";
import { sessionStatement } from "./session.ts";

/** What is read by {@link copyRows}. */
export type CopyQuestion = {
  /** As of the moment that another transaction exported (`pg_export_snapshot`), which has to be open still. */
  readonly snapshot: string;
  /** A SELECT without parameters. */
  readonly select: string;
  /** Settings of the database for this statement alone. */
  readonly settings: Readonly<Record<string, string | number>>;
};

/** Rows taken in between two turns of the event loop. */
const ROWS_PER_TURN = 2_000;
/**
 * "PGCOPY\n\377\r\n\0", flags, and the length of an extension, which no server writes yet. Comes before the first row.
 */
const HEADER_BYTES = 19;
/** Stands in a row's count of fields after the last row. */
const TRAILER = -1;

/**
 * Reads rows in the binary form of COPY, on a connection of its own. It is the least that a row can cost on both sides:
 * pg reads rows as texts alone, and the database plans a cursor for one process.
 *
 * @param stallMs in which something has to come, in milliseconds
 * @param take is given each row: the count of its fields in 16 bits, then each field by its length in 32 bits (-1 for
 *   null) and its bytes. They are overwritten later
 */
export async function copyRows(
  config: pg.ClientConfig,
  stallMs: number,
  { snapshot, select, settings }: CopyQuestion,
  take: (row: Buffer) => void,
): Promise<void> {
  const socket = new Socket();
  const client = new pg.Client({ ...config, stream: () => socket });
  client.on("error", () => {
    // The caller that waits for the rows gets the error.
  });
  try {
    await client.connect();
    const set = Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`);
    const begin = [
      "begin isolation level repeatable read read only",
      `set transaction snapshot '${snapshot}'`,
      // The server stops waiting for a lock when the caller here has given up.
      `set local lock_timeout = ${stallMs}`,
      ...set,
    ];
    const rows = Promise.withResolvers<void>();
    const copy = new CopyOut(`copy (${select}) to stdout (format binary)`, take, rows);
    await stalls(stallMs, copy, socket, async () => {
      await client.query([sessionStatement(), ...begin].join("; "));
      client.query(copy);
      await rows.promise;
      await client.query("commit");
    });
    client.end().catch(() => {});
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Destroys the socket when no row has come for `ms` milliseconds: the caller that waits gets an error. */
async function stalls(ms: number, copy: CopyOut, socket: Socket, task: () => Promise<void>): Promise<void> {
  let known = -1;
  const watch = setInterval(() => {
    if (copy.rows === known) socket.destroy(new Error(`the database sent nothing for ${ms} ms`));
    known = copy.rows;
  }, ms);
  try {
    await task();
  } finally {
    clearInterval(watch);
  }
}

/** A COPY as pg takes what it is to submit. */
class CopyOut implements pg.Submittable {
  readonly #statement: string;
  readonly #take: (row: Buffer) => void;
  readonly #end: PromiseWithResolvers<void>;
  #failure: unknown;
  #rows = 0;

  constructor(statement: string, take: (row: Buffer) => void, end: PromiseWithResolvers<void>) {
    this.#statement = statement;
    this.#take = take;
    this.#end = end;
  }

  /** How many have come. */
  get rows(): number {
    return this.#rows;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#statement);
  }

  /** Each message is one row, says the protocol. What is thrown here would end the process. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: pg.Connection): void {
    if (this.#failure !== undefined) return;
    try {
      const row = this.#rows === 0 ? chunk.subarray(HEADER_BYTES) : chunk;
      if (row.readInt16BE() !== TRAILER) this.#take(row);
    } catch (error) {
      this.#failure = error;
      connection.stream.destroy();
      this.#end.reject(error);
    }
    if (++this.#rows % ROWS_PER_TURN === 0) turn(connection);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#end.resolve();
  }

  handleError(error: unknown): void {
    this.#end.reject(error);
  }
}

/** Lets the event loop turn: it would read on as long as there is something to read. */
function turn({ stream }: pg.Connection): void {
  stream.pause();
  setImmediate(() => stream.resume());
}
