/** Messages for people about a change of a key, once it is made. */

import { policyDifferences } from "../fields/key-policies.ts";
import type { MintReason } from "../issuance/issuance-policy.ts";
import { type StoredKey, versionIn } from "../stored/stored-key.ts";
import { versionEnd } from "../stored/version-end.ts";
import type { KeyAction } from "./key-action.ts";

const WHY: Readonly<Record<MintReason, string>> = {
  FirstVersion: "",
  RequestedByHand: ", since a rotation was requested by hand",
  TriggerChanged: ", since spec.rotation.trigger changed",
  IntervalPassed: ", since spec.rotation.interval has passed",
  SecretLost: ", since its Secret was deleted",
  SecretTampered: ", since its Secret was edited",
};

/**
 * Returns why a version came after the active version, as `, since ...`; empty for the first. It is read from what is
 * stored: the process that minted the version may have ended since.
 */
export function whyIssued(key: StoredKey, number: number): string {
  const version = key.versions.find((one) => one.number === number);
  const before = versionIn(key, "active");
  if (version === undefined || before === undefined) return WHY.FirstVersion;
  if (key.rotationRequest !== null && key.rotationRequest.at <= version.mintedAt) return WHY.RequestedByHand;
  if (version.heals !== null) return WHY[version.heals.reason];
  return version.rotationTrigger === before.rotationTrigger ? WHY.IntervalPassed : WHY.TriggerChanged;
}

/** Returns in sentences what a policy changes of a key; empty if it changes nothing that affects requests. */
export function policyChange(
  key: StoredKey,
  { policy, expiresAfter, keptEnds }: Pick<KeyAction & { do: "UpdatePolicy" }, "policy" | "expiresAfter" | "keptEnds">,
): string {
  const changed = policyDifferences(key.policy, policy)
    .filter(({ field }) => field !== "suspended")
    .map(({ path }) => path.replace("spec.", ""));
  const active = versionIn(key, "active");
  if (active !== undefined && active.expiresAt !== versionEnd(active, expiresAfter, keptEnds))
    changed.push("expiresAfter");
  const sentences: string[] = [];
  if (policy.suspended !== key.policy.suspended) {
    sentences.push(policy.suspended ? "The key is suspended, and refused." : "The key is no longer suspended.");
  }
  if (changed.length > 0) sentences.push(`Changed, with the same secret: ${changed.join(", ")}.`);
  return sentences.join(" ");
}
