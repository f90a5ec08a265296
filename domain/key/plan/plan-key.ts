import type { StatedCondition } from "../../conditions.ts";
import { keyConditions } from "../conditions/key-conditions.ts";
import { policyOf } from "../fields/key-policies.ts";
import { mayMint } from "../issuance/issuance-block.ts";
import { refusedByPolicies } from "../issuance/policy-violated.ts";
import { governedKey, isOutdated, type ObservedKey } from "../observed/observed-key.ts";
import { type KeyAction, NOTHING, WAIT } from "./key-action.ts";
import { nextDeadline } from "./next-deadline.ts";
import { planDeletion } from "./plan-deletion.ts";
import { isGoing, planEnd } from "./plan-end.ts";
import { planPolicy } from "./plan-policy.ts";
import { planKept, planVersions } from "./plan-versions.ts";

export type KeyPlan = {
  readonly action: KeyAction;
  readonly conditions: readonly StatedCondition[];
  /** Time at which to look again though nothing changed, in milliseconds since the epoch; Infinity for never. */
  readonly requeueAt: number;
};

/**
 * Decides the next step for one declared key (architecture §2). The controller, `keyplane plan` and the exploration of
 * every crash all decide by this function.
 *
 * @param now milliseconds since the epoch, by the database's clock
 */
export function planKey(observed: ObservedKey, now: number): KeyPlan {
  const step = planEnd(observed) ?? (isGoing(observed) ? planDeletion(observed, now) : planLife(observed, now));
  // A key is at rest only once its last change is confirmed for every replica.
  const action = step.do === "Nothing" && !observed.confirmed ? WAIT : step;
  return { action, conditions: keyConditions(observed, now), requeueAt: nextDeadline(observed, now) };
}

function planLife(observed: ObservedKey, now: number): KeyAction {
  const { declared, references } = observed;
  const key = governedKey(observed);

  if (!observed.hasFinalizer && !observed.deleting) return { do: "AddFinalizer" };
  if (key?.state === "revoked") return NOTHING;
  if (key === undefined) {
    return planTakeOver(observed) ?? (declared.state === "Revoked" ? NOTHING : planBirth(observed, now));
  }
  if (isOutdated(observed, key)) return NOTHING;
  const update = planPolicy(observed, key);
  if (update !== undefined) return update;
  if (!observed.hasFinalizer) return NOTHING;
  if (references.teamId === null) return planKept(observed, key, now);
  return planVersions(observed, key, now);
}

/** Plans a take-over. A key that is to be revoked or suspended is taken over as well: that end is its next step. */
function planTakeOver(observed: ObservedKey): KeyAction | undefined {
  const { importable, references } = observed;
  if (refusedByPolicies(observed) !== undefined) return undefined;
  if (importable === null || !("takesOver" in importable) || references.missing.length > 0) return undefined;
  return { do: "TakeOver", keyId: importable.takesOver };
}

/** Plans the first step for a declaration that has no key yet. */
function planBirth(observed: ObservedKey, now: number): KeyAction {
  const { declared, references, importable } = observed;
  if (references.teamId === null) return NOTHING;
  const policy = policyOf(declared, references);
  if (declared.source.type === "Generate") {
    if (importable !== null || !mayMint(observed, now)) return NOTHING;
    return { do: "Reserve", number: 1, newKey: true, policy, why: "FirstVersion", supersedes: null };
  }
  if (refusedByPolicies(observed) !== undefined) return NOTHING;
  if (importable === null || !("digest" in importable) || references.missing.length > 0) return NOTHING;
  return { do: "Import", policy, digest: importable.digest, prefix: importable.prefix };
}
