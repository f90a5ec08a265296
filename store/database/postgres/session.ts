import type pg from "pg";
import { DatabaseUnavailableError } from "../errors.ts";

/** The database ends a transaction that stands still for so long, so that its locks hold up no other. */
const IDLE_LIMIT_MS = 5_000;

/**
 * Of each session. What a client leaves that is cut off ends in seconds: its transaction, and within half a minute its
 * session, whose notifications and place nothing else would free for hours (threats c93).
 */
const SETTINGS: readonly string[] = [
  `idle_in_transaction_session_timeout = ${IDLE_LIMIT_MS}`,
  "tcp_keepalives_idle = 10",
  "tcp_keepalives_interval = 5",
  "tcp_keepalives_count = 3",
  "tcp_user_timeout = 25000",
];

/** The statement that gives a session what each has, and more. */
export function sessionStatement(more: readonly string[] = []): string {
  return [...SETTINGS, ...more].map((one) => `set ${one}`).join("; ");
}

/** A new session is one in which nothing can be written. */
export class TakesNoWritesError extends DatabaseUnavailableError {}

const FAULT = `select case when pg_is_in_recovery() then 'standby'
  when current_setting('transaction_read_only') = 'on' then 'read-only' end as fault`;
const FAULTS: Readonly<Record<string, string>> = {
  standby: "the database is a standby, which takes no writes",
  "read-only": "the database is read-only, by default_transaction_read_only",
};

/**
 * Ends the server's side of a session, whatever it is in the middle of: a pooler would hand it on as it is, to the next
 * connection that takes its place.
 */
export const END_SESSION = "rollback; select pg_terminate_backend(pg_backend_pid())";

/**
 * Prepares a session: gives it its settings, and refuses one in which nothing can be written, with one wait for both answers.
 *
 * @throws TakesNoWritesError as {@link assertTakesWrites} does
 */
export async function prepareSession(client: pg.ClientBase, more: readonly string[] = []): Promise<void> {
  await Promise.all([client.query(sessionStatement(more)), assertTakesWrites(client)]);
}

/**
 * Refuses a session in which nothing can be written, as one that began during a failover is: it would stay so, and what
 * is read there may be old (threats c92).
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
