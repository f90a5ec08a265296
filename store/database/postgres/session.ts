import type pg from "pg";
import { DatabaseUnavailableError } from "../errors.ts";

/** Milliseconds after which the database ends an idle transaction, so that its locks delay no other. */
const IDLE_LIMIT_MS = 5_000;

/**
 * Settings of each session. If a client is cut off, its transaction ends in seconds, and its session within half a
 * minute. Otherwise nothing would free the session's notifications and its connection slot for hours (threats c93).
 * What a role, a database or a server has set for its other users changes no answer and ends no statement (threats c117).
 */
const SETTINGS: readonly string[] = [
  "datestyle = 'ISO, MDY'",
  "intervalstyle = 'postgres'",
  "extra_float_digits = 1",
  "standard_conforming_strings = on",
  "array_nulls = on",
  "gin_fuzzy_search_limit = 0",
  "default_transaction_isolation = 'read committed'",
  "default_transaction_deferrable = off",
  "lock_timeout = 0",
  "statement_timeout = 0",
  `idle_in_transaction_session_timeout = ${IDLE_LIMIT_MS}`,
  "tcp_keepalives_idle = 10",
  "tcp_keepalives_interval = 5",
  "tcp_keepalives_count = 3",
  "tcp_user_timeout = 25000",
];

/**
 * Settings that `set` cannot reset. PostgreSQL has `transaction_timeout` from version 17 on. A commit that a role or a
 * database has set not to wait for the disk would be lost in a crash, and a revocation with it; where the whole server
 * does not wait, its operator has chosen so.
 */
const RESET = `select set_config(name, case name when 'transaction_timeout' then '0' else 'on' end, false)
  from pg_settings where name = 'transaction_timeout'
    or name = 'synchronous_commit' and setting = 'off' and source in ('database', 'user', 'database user')`;

/**
 * Returns the statement that applies these settings, and then `more`, to a session. It reads, so that what begins a
 * transaction with a snapshot of its own has to be another statement.
 */
export function sessionStatement(more: readonly string[] = []): string {
  return [...[...SETTINGS, ...more].map((one) => `set ${one}`), RESET].join("; ");
}

/** Refusal of a new session in which nothing can be written. */
export class TakesNoWritesError extends DatabaseUnavailableError {}

const FAULT = `select case when pg_is_in_recovery() then 'standby'
  when current_setting('transaction_read_only') = 'on' then 'read-only' end as fault`;
const FAULTS: Readonly<Record<string, string>> = {
  standby: "the database is a standby, which takes no writes",
  "read-only": "the database is read-only, by default_transaction_read_only",
};

/**
 * Ends the server's side of a session in any state. Otherwise a pooler would hand the session on as it is, to the next
 * connection that gets it.
 */
export const END_SESSION = "rollback; select pg_terminate_backend(pg_backend_pid())";

/**
 * Applies the settings to a session, and refuses a session in which nothing can be written. Waits for both answers at
 * once.
 *
 * @throws TakesNoWritesError as {@link assertTakesWrites} does
 */
export async function prepareSession(client: pg.ClientBase, more: readonly string[] = []): Promise<void> {
  await Promise.all([client.query(sessionStatement(more)), assertTakesWrites(client)]);
}

/**
 * Refuses a session in which nothing can be written, such as a session that began during a failover: it would stay so,
 * and data that is read there may be old (threats c92).
 *
 * @throws TakesNoWritesError saying why; the session is over then
 */
export async function assertTakesWrites(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ fault: string | null }>(FAULT);
  const reason = FAULTS[rows[0]?.fault ?? ""];
  if (reason === undefined) return;
  await client.query(END_SESSION).catch(() => {
    // The answer is that it has ended.
  });
  throw new TakesNoWritesError(reason);
}
