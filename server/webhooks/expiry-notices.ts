import { EXPIRY_NOTICE_MS, expiryNotice } from "../../domain/key/conditions/expiry-notice.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { change } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { databaseTime } from "../../store/database/times.ts";
import { recordNotice, ungovernedKeysEnding } from "../../store/keys/events/key-notices.ts";

const KEYS_AT_ONCE = 100;

/** Milliseconds between two rounds of a process. */
export const NOTICE_INTERVAL_MS = 10 * 60_000;

/**
 * Records a notice for each key that ends soon and that no declaration governs. For declared keys their controller does
 * so, which knows their rotation. Each end is notified once, however many processes run this.
 */
export async function noticeExpiries(store: Store, signal: AbortSignal): Promise<void> {
  const now = await databaseTime(store.db);
  for (let afterId = ""; !signal.aborted; ) {
    const keys = await ungovernedKeysEnding(store.db, EXPIRY_NOTICE_MS, { afterId, limit: KEYS_AT_ONCE });
    for (const key of keys) {
      const notice = expiryNotice({ expiresAt: key.policy.expiresAt, rotationInterval: null }, key, now);
      if (notice === undefined || notice.from > now) continue;
      const { expiry: mark } = notice;
      const detail = { expiresAt: rfc3339(mark) };
      await change(store, null, (tx) => recordNotice(tx, { keyId: key.id, kind: "key.expiring", mark, detail }));
    }
    const last = keys.at(-1);
    if (last === undefined || keys.length < KEYS_AT_ONCE) return;
    afterId = last.id;
  }
}
