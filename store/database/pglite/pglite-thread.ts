/**
 * Entry of the thread that runs PGlite, so that no statement delays the thread that decides. Started by
 * `pglite-client.ts`.
 */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { createPgConfig } from "@electric-sql/pglite/node-postgres";
import { vector } from "@electric-sql/pglite-pgvector";
import pg from "pg";
import { errorMessage } from "../../../domain/error-text.ts";
import { COLUMN_TYPES } from "../column-types.ts";
import { DISK_FULL } from "../errors.ts";
import { preparedName } from "../prepared-statement.ts";
import { LOG_SETTINGS, LogSegments } from "./log-segments.ts";
import type { Failure, FromThread, Query, QueryResult, Question, ToThread } from "./pglite-protocol.ts";

const main = parentPort;
if (main === null) throw new Error("this file is a worker's, not a program");

/** Settings of the database. Shared buffers are resident from the start on, and the system caches the files too. */
const SETTINGS = ["shared_buffers=32MB", ...LOG_SETTINGS];
const OPTIONS = {
  extensions: { vector },
  startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ["-c", setting])],
};
const NO_ROWS: QueryResult = { rows: [], affectedRows: undefined, command: "" };
/** Fields of a PostgreSQL error that a caller may decide by. Its detail is left out, because it shows the row. */
const FIELDS = ["code", "severity", "schema", "table", "column", "constraint", "routine"] as const;

/** Severities after which a PostgreSQL server would end the connection or itself. PGlite only stops answering. */
const LAST: ReadonlySet<string | undefined> = new Set(["PANIC", "FATAL"]);

/** Open database, and the client of pg that queries it: pg keeps prepared statements, as it does for a server. */
type Opened = { readonly database: PGlite; readonly client: pg.Client; readonly log: LogSegments };

let opened: Opened | undefined;
let isInTransaction = false;

const post = (message: FromThread) => main.postMessage(message);

/** Promise of the last question's answer: questions are answered one after the other, even if they arrive before it. */
let answered: Promise<void> = Promise.resolve();

main.on("message", (question: ToThread) => {
  answered = answered.then(() => take(question));
});

async function take({ id, ...question }: ToThread): Promise<void> {
  try {
    post({ type: "answer", id, answer: await answer(question) });
  } catch (error) {
    const failure = failureOf(error);
    // The thread's end fails all calls that wait, this one included: a message from here might come before it or after.
    if (LAST.has(failure.fields.severity)) throw error;
    post({ type: "failure", id, failure });
  }
}

async function answer(question: Question): Promise<QueryResult> {
  switch (question.ask) {
    case "open":
      opened = await connect(await open(question.folder), question.folder);
      return NO_ROWS;
    case "query":
      return query(question);
    case "close":
      await opened?.database.close();
      return NO_ROWS;
  }
}

async function open(folder: string): Promise<PGlite> {
  if (folder.startsWith("memory://")) return PGlite.create(folder, OPTIONS);
  if (!existsSync(folder)) await create(folder);
  // PostgreSQL's own lock means nothing here, and one that was cut off as its process was killed is refused for ever.
  await rm(join(folder, "postmaster.pid"), { force: true });
  return PGlite.create(folder, OPTIONS);
}

async function connect(database: PGlite, folder: string): Promise<Opened> {
  database.onNotification((channel, payload) => post({ type: "notification", channel, payload }));
  const client = new pg.Client(Object.assign(createPgConfig(database), { types: COLUMN_TYPES }));
  await client.connect();
  return { database, client, log: new LogSegments(folder) };
}

/** Creates a database whole or not at all: a folder cannot be opened if its process was killed while making it. */
async function create(folder: string): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const made = await PGlite.create(draft, OPTIONS);
  await made.close();
  await rename(draft, folder);
}

async function query({ sql: text, parameters, begins }: Query): Promise<QueryResult> {
  if (opened === undefined) throw new Error("the embedded database is not open");
  const { client, log } = opened;
  if (!isInTransaction && log.isCheckpointDue()) await checkpoint(client);
  if (begins) await whole(client.query("begin"));
  isInTransaction = begins || (isInTransaction && text !== "commit" && text !== "rollback");
  const asked = client.query({ name: preparedName(text), text, values: [...parameters] });
  const { rows, rowCount, command } = await whole(asked);
  return { rows, affectedRows: rowCount ?? undefined, command };
}

/** Runs a checkpoint, which frees the write-ahead log. A checkpoint that fails is tried again at the next look: the statement that follows may succeed. */
async function checkpoint(client: pg.Client): Promise<void> {
  try {
    await whole(client.query("checkpoint"));
  } catch (error) {
    if (LAST.has(failureOf(error).fields.severity)) throw error;
  }
}

/**
 * Checks that a statement has ended. PGlite ignores exceptions within it, and goes on with the memory that is left: it
 * then reports neither an end nor an error of the statement, and pg takes the statement for done.
 */
async function whole(asked: Promise<pg.QueryResult>): Promise<pg.QueryResult> {
  const result = await asked;
  if (result.command !== null) return result;
  throw Object.assign(new Error("the embedded database broke off a statement"), { severity: "PANIC" });
}

/** Exception of PGlite's own file system, which is not an Error and has an error number of WASI. */
type FileSystemError = { readonly errno: number };
const WASI_ENOSPC = 51;
const NO_ROOM = "no room for the embedded database";

function isFileSystemError(error: unknown): error is FileSystemError {
  return typeof error === "object" && error !== null && "errno" in error && typeof error.errno === "number";
}

function failureOf(error: unknown): Failure {
  if (isFileSystemError(error)) {
    if (error.errno === WASI_ENOSPC) return { message: NO_ROOM, fields: { code: DISK_FULL } };
    return { message: `the embedded database cannot work on its files (WASI errno ${error.errno})`, fields: {} };
  }
  if (!(error instanceof Error)) return { message: errorMessage(error), fields: {} };
  const given: Readonly<Record<string, unknown>> = { ...error };
  const fields: Record<string, string> = {};
  for (const name of FIELDS) {
    const value = given[name];
    if (typeof value === "string") fields[name] = value;
  }
  return { message: fields.code === DISK_FULL ? `${NO_ROOM}: ${error.message}` : error.message, fields };
}
