import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { ListenError } from "../errors.ts";
import type { Store } from "../store.ts";

const ECHO_TIMEOUT_MS = 3_000;

/**
 * Sends itself a notification and waits for it: at start, before anything relies on notifications (threats c32).
 *
 * @throws ListenError behind a transaction pooler, which gives the listening connection to others; any other error if
 *   the database does not answer, which proves nothing
 */
export async function assertListenWorks(store: Store): Promise<void> {
  const nonce = randomUUID();
  const channel = `keyplane_echo_${nonce.replaceAll("-", "")}`;
  let arrived = false;
  let timer: NodeJS.Timeout | undefined;
  const { promise: waited, resolve: stopWaiting, reject } = Promise.withResolvers<void>();
  waited.catch(() => {});
  try {
    const connection = await store.listen(
      channel,
      (payload) => {
        if (payload !== nonce) return;
        arrived = true;
        stopWaiting();
      },
      (error) => reject(new Error("the listening connection ended during its test", { cause: error })),
    );
    try {
      await sql`select pg_notify(${channel}, ${nonce})`.execute(store.db);
      timer = setTimeout(stopWaiting, ECHO_TIMEOUT_MS);
      await waited;
      // A notification that was sent arrives before the answer to the ping. A process that got no CPU meanwhile finds
      // its time over before it has read the notification.
      if (!arrived) await connection.ping();
    } finally {
      await connection.close();
    }
    if (!arrived) {
      throw new ListenError(
        "a notification that was sent did not arrive: the database URL leads through a transaction pooler. " +
          "Give a URL that leads to the server itself, or to a pooler in session mode.",
      );
    }
  } finally {
    clearTimeout(timer);
  }
}
