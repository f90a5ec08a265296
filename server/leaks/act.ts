import { leakedSecretState, leakResponse } from "../../domain/key/stored/leak.ts";
import { commitChange, seqIfKnown, type Tx } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { databaseTime } from "../../store/database/times.ts";
import { type FoundSecret, findSecrets, type LeakReport, recordLeak } from "../../store/keys/events/key-leaks.ts";
import { endRetiring } from "../../store/keys/lifecycle/key-versions.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import { lockKey } from "../../store/keys/rows/api-managed-keys.ts";

/** Changes that a report can cause. `retired`: only a version that was about to end has ended. */
export const LEAK_OUTCOMES = ["none", "alerted", "retired", "revoked"] as const;
export type LeakOutcome = (typeof LEAK_OUTCOMES)[number];

/**
 * Acts on a leaked secret as the key's team wants, by its present state: it may have been rotated, revoked or reported
 * meanwhile. A repetition changes nothing more.
 *
 * @param check throws if the reporter may not have it acted on, once the key is locked
 * @returns outcome, and the seq of the change; null if nothing ended, or if the database went away before it gave the
 * seq
 */
export async function actOnLeak(
  store: Store,
  { digest, keyId }: FoundSecret,
  report: LeakReport,
  check: (tx: Tx) => Promise<void> = async () => {},
): Promise<{ readonly outcome: LeakOutcome; readonly seq: number | null }> {
  const { result: outcome, askSeq } = await commitChange(store, null, async (tx): Promise<LeakOutcome> => {
    await lockKey(tx, keyId);
    await check(tx);
    const [secret] = await findSecrets(tx, [digest]);
    if (secret === undefined) return "none";
    const state = leakedSecretState(secret, await databaseTime(tx));
    const isNew = await recordLeak(tx, secret, report);
    switch (leakResponse(secret.leakAction, state, secret.versionState)) {
      case "none":
        return "none";
      case "alert":
        return isNew ? "alerted" : "none";
      case "end version":
        await endRetiring(tx, keyId, secret.version, report.by);
        return "retired";
      case "revoke key":
        await revokeKey(tx, keyId, "Leaked", report.by);
        return "revoked";
    }
  });
  const hasEnded = outcome === "revoked" || outcome === "retired";
  return { outcome, seq: hasEnded ? await seqIfKnown(askSeq) : null };
}
