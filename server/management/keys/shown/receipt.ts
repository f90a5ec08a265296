import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../../../runtime/clock.ts";
import { DatabaseUnavailableError } from "../../../../store/database/errors.ts";
import { outsideManagementSlots } from "../../../../store/database/management-slots.ts";
import type { Store } from "../../../../store/database/store.ts";
import { createConfirmer } from "../../../../store/replicas/confirmer.ts";
import { replicaRegister } from "../../../../store/replicas/replicas.ts";

/** Receipt of a change, for its author (architecture §3). */
export type Receipt = {
  /** Number of the change in the feed; null if the database went away before it gave the number. */
  readonly sequence: number | null;
  /** True if every replica decides by the change, or refuses everything. */
  readonly confirmed: boolean;
};

export type Receipts = {
  /** Reads how far changes are confirmed now. The result gives the receipts of any number of changes. */
  read(): Promise<(sequence: number | null) => Receipt>;
  /**
   * Waits for the confirmation of a change, and returns its receipt. The receipt is unconfirmed if the time is over or
   * the database is away: the change stands, and the caller can ask again.
   *
   * @param sequence null if the database gave no number: then there is nothing to wait for
   * @param patienceMs maximum wait in milliseconds
   */
  wait(sequence: number | null, patienceMs?: number): Promise<Receipt>;
};

/** Milliseconds that an answer waits for the replicas, which acknowledge in milliseconds while all is well. */
const PATIENCE_MS = 3_000;
const SHORTEST_POLL_MS = 5;
const MAX_POLL_MS = 200;

/** Creates the source of receipts in a process. It remembers since when it has seen each change. */
export function createReceipts(store: Store, clock: Clock): Receipts {
  const confirm = createConfirmer(replicaRegister(store), clock.monotonic);
  let asking: ReturnType<typeof confirm> | undefined;

  /** Asks how far changes are confirmed. Concurrent callers share one question. */
  function ask(): ReturnType<typeof confirm> {
    asking ??= outsideManagementSlots(confirm).finally(() => {
      asking = undefined;
    });
    return asking;
  }

  async function read(): Promise<(sequence: number | null) => Receipt> {
    const { seq } = await ask();
    return (sequence) => ({ sequence, confirmed: sequence !== null && sequence <= seq });
  }

  return {
    read,
    async wait(sequence, patienceMs = PATIENCE_MS) {
      if (sequence === null) return { sequence, confirmed: false };
      const deadline = clock.monotonic() + patienceMs;
      for (let pause = SHORTEST_POLL_MS; ; pause = Math.min(pause * 2, MAX_POLL_MS)) {
        const receipt = await read().then(
          (receiptOf) => receiptOf(sequence),
          (error: unknown) => {
            if (error instanceof DatabaseUnavailableError) return { sequence, confirmed: false };
            throw error;
          },
        );
        if (receipt.confirmed || clock.monotonic() + pause > deadline) return receipt;
        await delay(pause);
      }
    },
  };
}
