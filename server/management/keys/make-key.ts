import type { Tx } from "../../../store/database/change.ts";
import type { Creation } from "../../../store/idempotency.ts";
import type { Management } from "../context.ts";
import { createOnce, type Made } from "../creation.ts";
import type { Rights } from "../rights.ts";
import type { KeyJson } from "./key-json.ts";
import { showKey } from "./shown-key.ts";

/** Makes a key, or a version of one. */
export type MakeKey = Parameters<typeof createOnce>[2];

/**
 * Makes a key or a version once, and reads it as it is shown.
 *
 * @param creation how the request is known again; undefined where it does not say
 * @param makeAgain as of {@link createOnce}
 */
export async function makeKeyOnce(
  management: Management,
  creation: Creation | undefined,
  rights: Rights,
  make: MakeKey,
  makeAgain?: Parameters<typeof createOnce>[4],
): Promise<Made<KeyJson>> {
  // Before the transaction: on PGlite nobody else is answered within it.
  const receiptOf = await management.receipts.read();
  const show = (tx: Tx, id: string) => showKey({ db: tx, receiptOf, now: management.clock.now() }, rights, id);
  return createOnce(management, creation, make, show, makeAgain);
}
