/** Obstacles that keep a key from getting a version that it wants. */
import { outdatedText, type Reason } from "../../conditions.ts";
import { governedKey, isOutdated, type ObservedKey } from "../observed/observed-key.ts";
import { policyEnded, refusedByPolicies } from "./policy-violated.ts";

type IssuanceBlock = { readonly reason: Reason; readonly message: string };

/** Default message for a blocked key. */
const NOTHING_MINTED = "Nothing is minted meanwhile.";

/** Message for a Secret that is gone and cannot be made again. */
export const NAMESPACE_TERMINATES = "The namespace is being deleted, and no Secret can be made in it any more.";

/**
 * Returns why a key gets no version at a given time, whatever its Secret is: because of its declaration, its references
 * or its namespace. Undefined if it may have a version.
 *
 * @param at milliseconds since the epoch
 */
export function issuanceBlock(observed: ObservedKey, at: number): IssuanceBlock | undefined {
  const { declared, references, verdict } = observed;
  const blockedBy = (reason: Reason, message = NOTHING_MINTED) => ({ reason, message });
  if (references.teamId === null) return blockedBy("NamespaceUnclaimed");
  const key = governedKey(observed);
  if (key !== undefined && isOutdated(observed, key)) {
    return blockedBy("Outdated", `${outdatedText(observed.generation, key.generation)} ${NOTHING_MINTED}`);
  }
  const [reason, message] = refusedByPolicies(observed) ?? [];
  if (reason !== undefined) return blockedBy(reason, message);
  // What an edit that does not hold names in vain keeps nothing from the key that goes on as it was (threats b451).
  const isMissing = verdict.isKeptOff ? references.gatewayId === "" : references.missing.length > 0;
  if (isMissing) return blockedBy("ReferenceNotFound");
  if (declared.state === "Suspended") return blockedBy("Suspended");
  if (policyEnded(observed, at)) return blockedBy("PolicyViolated");
  if (declared.expiresAt !== null && declared.expiresAt <= at) return blockedBy("Expired");
  if (observed.namespaceTerminates) return blockedBy("NamespaceTerminating", NAMESPACE_TERMINATES);
  return undefined;
}

/** True if a version could and should be delivered at a time: never into another's Secret, never for a key at rest. */
export function mayMint(observed: ObservedKey, at: number): boolean {
  const { secret } = observed;
  if (issuanceBlock(observed, at) !== undefined) return false;
  return secret.state === "absent" || (secret.state === "ours" && !secret.immutable);
}
