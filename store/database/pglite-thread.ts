/**
 * The entry of the thread that runs PGlite, so that no statement holds up the one that decides. Started by
 * `pglite-client.ts`.
 */
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { PGlite, type Transaction } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { errorMessage } from "../../domain/error-text.ts";
import { DISK_FULL } from "./errors.ts";
import type { Failure, FromThread, Query, Question, Rows, ToThread } from "./pglite-protocol.ts";

const main = parentPort;
if (main === null) throw new Error("this file is a worker's, not a program");

const WITH_VECTOR = { extensions: { vector } };
const NO_ROWS: Rows = { rows: [], affectedRows: undefined };
/** Of PostgreSQL's own error fields those that a caller may decide by or read. */
const FIELDS = ["code", "severity", "detail", "hint", "schema", "table", "column", "constraint", "routine"] as const;

type OpenTransaction = { readonly handle: Transaction; end(how: "commit" | "rollback"): Promise<void> };

let opened: PGlite | undefined;
let transaction: OpenTransaction | undefined;
const unlistens = new Map<string, () => Promise<void>>();

const tell = (message: FromThread) => main.postMessage(message);

main.on("message", async ({ id, ...question }: ToThread) => {
  try {
    tell({ told: "answer", id, answer: await answer(question) });
  } catch (error) {
    tell({ told: "failure", id, failure: failureOf(error) });
  }
});

async function answer(question: Question): Promise<Rows> {
  switch (question.ask) {
    case "open":
      opened = await open(question.folder);
      return NO_ROWS;
    case "query":
      if (question.begins) transaction = await begin();
      return query(question);
    case "commit":
    case "rollback": {
      const ending = transaction;
      transaction = undefined;
      await ending?.end(question.ask);
      return NO_ROWS;
    }
    case "listen": {
      const { channel } = question;
      const unlisten = await pglite().listen(channel, (payload) => tell({ told: "notification", channel, payload }));
      unlistens.set(channel, unlisten);
      return NO_ROWS;
    }
    case "unlisten":
      await unlistens.get(question.channel)?.();
      unlistens.delete(question.channel);
      return NO_ROWS;
    case "close":
      await opened?.close();
      return NO_ROWS;
  }
}

async function open(folder: string): Promise<PGlite> {
  if (folder.startsWith("memory://")) return PGlite.create(folder, WITH_VECTOR);
  if (!existsSync(folder)) await create(folder);
  // PostgreSQL's own lock means nothing here, and one that was cut off as its process was killed is refused for ever.
  await rm(join(folder, "postmaster.pid"), { force: true });
  return PGlite.create(folder, WITH_VECTOR);
}

/** Whole or not at all: a folder that was being made when its process was killed cannot be opened. */
async function create(folder: string): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  const made = await PGlite.create(draft, WITH_VECTOR);
  await made.close();
  await rename(draft, folder);
}

function pglite(): PGlite {
  if (opened === undefined) throw new Error("the embedded database is not open");
  return opened;
}

async function query({ sql, parameters }: Query): Promise<Rows> {
  const { rows, affectedRows } = await (transaction?.handle ?? pglite()).query(sql, [...parameters]);
  return { rows, affectedRows };
}

/** PGlite hands its transaction to a function, which is kept waiting here for how it is to end. */
async function begin(): Promise<OpenTransaction> {
  const { promise: began, resolve: hasBegun } = Promise.withResolvers<Transaction>();
  const { promise: ended, resolve: commit, reject: rollback } = Promise.withResolvers<void>();
  const through = pglite().transaction(async (handle) => {
    hasBegun(handle);
    await ended;
  });
  const undone = new Error("rolled back");
  const handle = await Promise.race([began, through.then(() => began)]);
  return {
    handle,
    async end(how) {
      if (how === "commit") commit();
      else rollback(undone);
      await through.catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    },
  };
}

/** Its own file system throws these instead of errors, with the error numbers of WASI. */
type FileSystemError = { readonly errno: number };
const WASI_ENOSPC = 51;

function isFileSystemError(error: unknown): error is FileSystemError {
  return typeof error === "object" && error !== null && "errno" in error && typeof error.errno === "number";
}

function failureOf(error: unknown): Failure {
  if (isFileSystemError(error)) {
    if (error.errno === WASI_ENOSPC)
      return { message: "no room for the embedded database", fields: { code: DISK_FULL } };
    return { message: `the embedded database cannot work on its files (WASI errno ${error.errno})`, fields: {} };
  }
  if (!(error instanceof Error)) return { message: errorMessage(error), fields: {} };
  const given: Readonly<Record<string, unknown>> = { ...error };
  const fields: Record<string, string> = {};
  for (const name of FIELDS) {
    const value = given[name];
    if (typeof value === "string") fields[name] = value;
  }
  return { message: error.message, fields };
}
