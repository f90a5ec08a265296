import { Socket } from "node:net";
import pg from "pg";
import { sessionStatement } from "./session.ts";

/** Query whose rows {@link copyRows} reads. */
export type CopyQuestion = {
  /** Snapshot that another transaction exported (`pg_export_snapshot`). That transaction must still be open. */
  readonly snapshot: string;
  /** SELECT without parameters. */
  readonly select: string;
  /** Settings of the database for this statement alone. */
  readonly settings: Readonly<Record<string, string | number>>;
};

/** Number of rows that are read between two iterations of the event loop. */
const ROWS_PER_ITERATION = 2_000;
/**
 * Length in bytes of the header, which comes before the first row: "PGCOPY\n\377\r\n\0", flags, and the length of an
 * extension, which no server writes yet.
 */
const HEADER_BYTES = 19;
/** Value after the last row, where a row has its count of fields. */
const TRAILER = -1;

/**
 * Reads rows in the binary form of COPY, on a connection of its own. This is the cheapest way for both sides: pg reads
 * rows as text only, and the database plans a cursor for one process.
 *
 * @param stallMs milliseconds within which the next row must come
 * @param take called with each row: the count of its fields in 16 bits, then each field as its length in 32 bits (-1
 *   for null) and its bytes. The bytes are overwritten later
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
      await client.query(sessionStatement());
      await client.query(begin.join("; "));
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

/** Destroys the socket when no row has come for `ms` milliseconds: the waiting caller gets an error. */
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

/** COPY in the form in which pg accepts a query of ours. */
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

  /** Number of rows that have come. */
  get rows(): number {
    return this.#rows;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#statement);
  }

  /** Takes a message, which is one row by the protocol. An exception that leaves this method would end the process. */
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
    if (++this.#rows % ROWS_PER_ITERATION === 0) yieldToLoop(connection);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#end.resolve();
  }

  handleError(error: unknown): void {
    this.#end.reject(error);
  }
}

/** Lets the event loop run other work: pg would read on as long as there is something to read. */
function yieldToLoop({ stream }: pg.Connection): void {
  stream.pause();
  setImmediate(() => stream.resume());
}
