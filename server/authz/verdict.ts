import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Granted } from "../auth/decide.ts";
import type { AccessDeps } from "../auth/key-hook.ts";
import { forbidden, type Refused } from "../auth/refused.ts";
import type { OpenStreams } from "../calls/calls.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";

/** Parts that the verifier decides by. */
export type VerifierDeps = AccessDeps & {
  readonly streams: Pick<OpenStreams, "fullOf" | "openBody" | "watch">;
  readonly usage: Pick<UsageRecorder, "record" | "countRequest">;
};

/** Refusal of a proxy's question: `refused` is counted and recorded, and says the answer if `shown` does not. */
export type Denied =
  | { readonly granted: false; readonly shown: Problem; readonly refused?: Refused | undefined }
  | { readonly granted: false; readonly shown?: undefined; readonly refused: Refused };

/** Answer to a proxy's question. */
export type Verdict = Granted | Denied;

export function deny(shown: Problem, refused?: Refused): Denied {
  return { granted: false, shown, refused };
}

/** Refuses what the gateway would take off a request, and a proxy would pass on. */
export function denyUnsafe(shown: Problem): Denied {
  const by = { kind: "code" } as const;
  return deny(shown, { granted: false, code: "invalid_request", cause: "unsafe_at_proxy", key: undefined, by });
}

/** Refuses a key whose rights or limits cannot be held here. */
export function denyUnheld(key: KeyRecord, reason: string): Denied {
  return deny(problem("forbidden", reason), forbidden("not_held_by_proxy", key));
}
