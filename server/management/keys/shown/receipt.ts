import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../../../runtime/clock.ts";
import { DatabaseUnavailableError } from "../../../../store/database/errors.ts";
import { outsideManagedTurns } from "../../../../store/database/managed-turns.ts";
import type { Store } from "../../../../store/database/store.ts";
import { createConfirmer } from "../../../../store/replicas/confirmer.ts";
import { replicaRegister } from "../../../../store/replicas/replicas.ts";

/** The receipt of a change, for its author (architecture §3). */
export type Receipt = {
  /** The change's number in the feed; null where the database was gone before it could say. */
  readonly sequence: number | null;
  /** Whether every replica decides by it, or refuses everything. */
  readonly confirmed: boolean;
};

export type Receipts = {
  /** Reads how far changes are confirmed, for as many receipts as are wanted of this moment. */
  read(): Promise<(sequence: number | null) => Receipt>;
  /**
   * The receipt of a change once it is confirmed, or as it is when patience is over, or the database is away: the
   * change stands, and the caller can ask again.
   *
   * @param sequence null where the database did not say: then nothing can be waited for
   */
  wait(sequence: number | null, patienceMs?: number): Promise<Receipt>;
};

/** How long an answer waits for the replicas: they acknowledge in milliseconds while all is well. */
const PATIENCE_MS = 3_000;
const SHORTEST_POLL_MS = 5;
const MAX_POLL_MS = 200;

/** Makes what gives the receipts of one process, which remembers since when it has seen each change. */
export function createReceipts(store: Store, clock: Clock): Receipts {
  const confirm = createConfirmer(replicaRegister(store), clock.monotonic);
  let asking: ReturnType<typeof confirm> | undefined;

  /** However many want to know, one question at a time is asked. */
  function ask(): ReturnType<typeof confirm> {
    asking ??= outsideManagedTurns(confirm).finally(() => {
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
