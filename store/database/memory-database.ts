import type { Kysely } from "kysely";
import { CallerLeftError, DatabaseUnavailableError, MemoryBusyError, MemoryTimeoutError, sqlState } from "./errors.ts";
import { CANCELLED } from "./postgres/timeout-client.ts";
import type { Database } from "./schema.ts";
import { type ShareLimits, TeamShare } from "./team-share.ts";

/** Team of a call for the memory, and the signal that it has ended. */
type MemoryCall = {
  readonly teamId: string;
  /** Aborted when the caller no longer waits for the answer. */
  readonly signal: AbortSignal;
};

/**
 * Access of the memory service to the database. The memory cannot take the capacity that enforcement needs, and no team
 * can take that of other teams.
 */
export type MemoryDatabase = {
  /**
   * Runs a call's statements once the team has a slot.
   *
   * @param body gets a handle for this call alone: its statements end with the call
   * @throws MemoryBusyError if too many calls wait, or this call has waited too long
   * @throws MemoryTimeoutError if the call has run too long: what it wrote may stand
   * @throws CallerLeftError if the caller no longer waits for the answer
   */
  run<T>(call: MemoryCall, body: (db: Kysely<Database>) => Promise<T>): Promise<T>;
};

/**
 * Milliseconds that a call waits for a slot at most. As many clients as a team has may save at once, and a late save is
 * worth more than a save that its client has to repeat.
 */
const MAX_WAIT_MS = 5_000;
/** Milliseconds that a call waits for its answers at most. */
export const MAX_RUN_MS = 2_000;

/**
 * Limits the calls of the memory.
 *
 * @param lend returns a handle whose statements end, or never begin, once the signal is aborted
 * @param runMs milliseconds that a call may take once it has a slot
 */
export function memoryDatabase(
  limits: ShareLimits,
  lend: (signal: AbortSignal) => Kysely<Database>,
  runMs = MAX_RUN_MS,
): MemoryDatabase {
  const share = new TeamShare(limits, () => performance.now());
  return {
    async run({ teamId, signal }, body) {
      const { promise: ended, reject } = Promise.withResolvers<never>();
      ended.catch(() => {});
      const ending = new AbortController();
      const end = (reason: Error) => {
        ending.abort(reason);
        reject(reason);
      };
      const leave = () => end(new CallerLeftError("the caller has left"));
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
      let timer = setTimeout(() => end(new MemoryBusyError("all")), MAX_WAIT_MS);
      try {
        await share.enter(teamId, ending.signal);
        clearTimeout(timer);
        timer = setTimeout(() => end(new MemoryTimeoutError("the memory took too long")), runMs);
        // The slot is given back when the body has ended, which may be after its caller has the error.
        const began = performance.now();
        const through = answer(body, lend(ending.signal)).finally(() => share.leave(teamId, performance.now() - began));
        return await Promise.race([through, ended]);
      } catch (error) {
        if (ending.signal.aborted) throw ending.signal.reason;
        const state = error instanceof DatabaseUnavailableError ? sqlState(error.cause) : undefined;
        if (state === CANCELLED) throw new MemoryTimeoutError("the memory took too long", { cause: error });
        throw error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
      }
    },
  };
}

async function answer<T>(body: (db: Kysely<Database>) => Promise<T>, db: Kysely<Database>): Promise<T> {
  return body(db);
}
