/** Status messages of a key about the policies of its team. */
import { condition, type Reason, type StatedCondition } from "../../conditions.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { policyOf, samePolicy } from "../fields/key-policies.ts";
import { governedKey, type ObservedDeclaration } from "../observed/observed-key.ts";

/** Returns why a new key gets no version by its team's policies; undefined if it may have one. */
export function refusedByPolicies(observed: ObservedDeclaration): [Reason, string] | undefined {
  const { refused, unreadable } = observed.verdict;
  if (governedKey(observed) !== undefined) return undefined;
  if (unreadable.length > 0) return ["PolicyUnreadable", `${unreadable.join(" ")} No new key is issued meanwhile.`];
  return refused.length === 0 ? undefined : ["PolicyViolated", `The key is not issued. ${refused.join(" ")}`];
}

/** Returns why the declaration of an issued key is not applied; undefined if it is. */
export function heldByPolicies(observed: ObservedDeclaration): [Reason, string] | undefined {
  const { notApplied, unreadable, isRotationUnknown } = observed.verdict;
  if (governedKey(observed) === undefined) return undefined;
  const rest = `the key goes on as it was.${isRotationUnknown ? UNROTATED : ""}`;
  if (unreadable.length > 0) return ["PolicyUnreadable", `${unreadable.join(" ")} Meanwhile ${rest}`];
  if (notApplied.length === 0) return undefined;
  return ["PolicyViolated", `What is declared is not applied, and ${rest} ${notApplied.join(" ")}`];
}

/**
 * Returns the result of {@link heldByPolicies} for a key that differs from its declaration. A key that is as declared
 * stays Ready while a policy cannot be read, which is a condition of its own (threats c82).
 */
export function keptOffByPolicies(observed: ObservedDeclaration): [Reason, string] | undefined {
  const held = heldByPolicies(observed);
  if (held === undefined) return undefined;
  const { declared, generation, references, verdict } = observed;
  const key = governedKey(observed);
  const isAsDeclared = key?.generation === generation && samePolicy(key.policy, policyOf(declared, references));
  return isAsDeclared && !verdict.isKeptOff ? undefined : held;
}

const UNROTATED =
  " No interval rotates it meanwhile, since the declaration that was applied last is not recorded, or cannot be read: keyplane rotate makes a new version.";

/**
 * True if the grace period of a key that breaks a policy is over.
 *
 * @param at milliseconds since the epoch
 */
export function policyEnded({ verdict: { endsAt } }: ObservedDeclaration, at: number): boolean {
  return endsAt !== null && endsAt <= at;
}

/** Returns the message for a key that has ended because it breaks a policy. */
export function policyEndedText({ verdict: { ends, endsAt } }: ObservedDeclaration): string {
  return `The key is refused since ${rfc3339(endsAt ?? 0)}, and works again once it meets its policies. ${ends.join(" ")}`;
}

/** Returns `PolicyViolated`, only as long as a key breaks a policy of its team, or will be bounded by one. */
export function policyConditions(observed: ObservedDeclaration, now: number): StatedCondition[] {
  const { ends, endsAt, bounded, nextAt } = observed.verdict;
  const held = heldByPolicies(observed) ?? refusedByPolicies(observed);
  const [reason, message] = held ?? [];
  const said = [
    ...(message === undefined ? [] : [message]),
    ...(ends.length === 0 ? [] : [policyEnded(observed, now) ? policyEndedText(observed) : endingText(ends, endsAt)]),
    ...(bounded.length === 0 ? [] : [boundedText(bounded, nextAt)]),
  ];
  return said.length === 0 ? [] : [condition("PolicyViolated", "True", reason ?? "PolicyViolated", said.join(" "))];
}

function endingText(ends: readonly string[], endsAt: number | null): string {
  const when = endsAt === null ? "its grace period" : rfc3339(endsAt);
  return `The key works until ${when}, and is refused from then on until it meets its policies. ${ends.join(" ")}`;
}

function boundedText(bounded: readonly string[], nextAt: number): string {
  const when = Number.isFinite(nextAt) ? `From ${rfc3339(nextAt)} on the key` : "The key";
  return `${when} may do what its policies allow, and no more, whatever it declares. ${bounded.join(" ")}`;
}
