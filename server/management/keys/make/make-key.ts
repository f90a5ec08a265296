import type { Tx } from "../../../../store/database/change.ts";
import type { Creation } from "../../../../store/idempotency.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import { requireSessionStill } from "../../../auth/management/principal-now.ts";
import type { ChangeContext } from "../../change-context.ts";
import type { Management } from "../../context.ts";
import { type CreationResult, createOnce } from "../../creation.ts";
import { requireRightStill } from "../../rights.ts";
import type { KeyJson } from "../shown/key-json.ts";
import { showKey } from "../shown/shown-key.ts";

/** Makes a key, or a version of a key. */
export type MakeKey = Parameters<typeof createOnce>[2];

/**
 * Makes a key or a version once, and returns the key as it is shown. Checks the author's right again after that, in the
 * same transaction: they may have lost it while the request waited for a connection or a lock (threats b117).
 *
 * @param creation identity of the request, which recognises a repetition; undefined if the request gives none
 * @param makeAgain same as in {@link createOnce}
 */
export async function makeKeyOnce(
  management: Management,
  creation: Creation | undefined,
  context: ChangeContext,
  make: MakeKey,
  makeAgain?: Parameters<typeof createOnce>[4],
): Promise<CreationResult<KeyJson>> {
  // Before the transaction: PGlite runs no other query during it.
  const receiptOf = await management.receipts.read();
  const show = (tx: Tx, id: string) => showKey({ db: tx, receiptOf, now: management.clock.now() }, context.rights, id);
  const makeIfAllowed: MakeKey = async (tx) => {
    const made = await make(tx);
    await requireRightToMake(tx, context, made.id);
    return made;
  };
  return createOnce(management, creation, makeIfAllowed, show, async (tx, id) => {
    const made = await makeAgain?.(tx, id);
    if (made !== undefined) await requireRightToMake(tx, context, id);
    return made;
  });
}

/**
 * Checks the author's right to make keys again. @throws Problem `forbidden` for a member who has lost it,
 * `unauthorized` if their session has ended
 */
async function requireRightToMake(tx: Tx, { principal }: ChangeContext, keyId: string): Promise<void> {
  if (typeof principal.as === "string") return requireSessionStill(tx, principal);
  const key = await findKey(tx, keyId);
  if (key === undefined) throw new Error("a key that was just made is gone");
  await requireRightStill(tx, principal, key.teamId, "make keys");
}
