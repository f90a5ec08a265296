import { leakedSecretState, type SecretState } from "../../domain/key/stored/leak.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { FoundSecret } from "../../store/keys/events/key-leaks.ts";
import type { LeakOutcome } from "./act.ts";

/**
 * Secret as it is shown to a member. All fields but `state` and `outcome` are null if it is no key of the member's
 * teams. Times are RFC 3339.
 */
export type LeakJson = {
  readonly state: SecretState | "unknown";
  readonly keyId: string | null;
  readonly version: number | null;
  readonly prefix: string | null;
  readonly name: string | null;
  readonly namespace: string | null;
  readonly team: string | null;
  readonly teamId: string | null;
  /** Time of the first report. */
  readonly leakedAt: string | null;
  /** Change that this report has caused. */
  readonly outcome: LeakOutcome;
};

/** Returns a secret as it is shown. @param now milliseconds since the epoch */
export function leakJson(secret: FoundSecret | undefined, outcome: LeakOutcome, now: number): LeakJson {
  const leakedAt = secret?.leakedAt ?? null;
  return {
    state: secret === undefined ? "unknown" : leakedSecretState(secret, now),
    keyId: secret?.keyId ?? null,
    version: secret?.version ?? null,
    prefix: secret?.prefix ?? null,
    name: secret?.name ?? null,
    namespace: secret?.namespace ?? null,
    team: secret?.team ?? null,
    teamId: secret?.teamId ?? null,
    leakedAt: leakedAt === null ? null : rfc3339Millis(leakedAt),
    outcome,
  };
}
