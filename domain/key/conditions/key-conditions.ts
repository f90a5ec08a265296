import { condition, progressOf, type StatedCondition } from "../../conditions.ts";
import { rfc3339 } from "../../rfc3339.ts";
import type { RotationReason } from "../issuance/issuance-policy.ts";
import { nextRotation } from "../issuance/next-rotation.ts";
import { policyConditions } from "../issuance/policy-violated.ts";
import { governedKey, type ObservedKey } from "../observed/observed-key.ts";
import { leakedCondition } from "../stored/leak.ts";
import type { StoredKey } from "../stored/stored-key.ts";
import { retiringEndsAt } from "../stored/version-slots.ts";
import { keyReadiness } from "./readiness.ts";
import { secretDelivered } from "./secret-delivered.ts";
import { staleConsumers } from "./stale-consumers.ts";

/**
 * Returns the conditions of a key, for the people who wait for it. `Ready` is True when the world is as declared;
 * `Reconciling` and `Stalled` are present only while True, as kstatus reads them.
 */
export function keyConditions(observed: ObservedKey, now: number): StatedCondition[] {
  const key = governedKey(observed);
  const situation = { observed, key, now };
  const delivered = secretDelivered(situation);
  const ready = keyReadiness({ ...situation, delivered });
  return [
    ready,
    accepted(observed),
    resolvedRefs(observed),
    delivered,
    enforced(observed, key),
    rotating(observed, key, now),
    staleConsumers(observed, key, now),
    ...leakedCondition(key, now),
    ...policyConditions(observed, now),
    ...(ready.status === "True" ? delayedRotation(observed, now) : progressOf(ready)),
  ];
}

function accepted({ references }: ObservedKey): StatedCondition {
  return references.teamId === null
    ? condition("Accepted", "False", "NamespaceUnclaimed", "No PlatformTeam claims this namespace.")
    : condition("Accepted", "True", "Accepted", "The declaration is valid and its namespace belongs to a team.");
}

function resolvedRefs({ references }: ObservedKey): StatedCondition {
  return references.missing.length > 0
    ? condition("ResolvedRefs", "False", "ReferenceNotFound", references.missing.join(" "))
    : condition("ResolvedRefs", "True", "Resolved", "Everything that is referred to exists.");
}

function enforced(observed: ObservedKey, key: StoredKey | undefined): StatedCondition {
  if (!observed.confirmed) {
    return condition("Enforced", "False", "Confirming", "The last change is on its way to every replica.");
  }
  return key === undefined
    ? condition("Enforced", "False", "Minting", "There is no key yet.")
    : condition("Enforced", "True", "Enforced", "Every replica enforces the key as declared.");
}

function rotating(observed: ObservedKey, key: StoredKey | undefined, now: number): StatedCondition {
  const retiring = key?.versions.filter((version) => version.state === "retiring") ?? [];
  if (key === undefined || retiring.length === 0)
    return condition("Rotating", "False", "NotRotating", "No old version is accepted.");
  const until = retiring.map((version) => {
    const endsAt = retiringEndsAt(version);
    return `version ${version.number} until ${Number.isFinite(endsAt) ? rfc3339(endsAt) : "its deadline"}`;
  });
  const refused = whyRefused(observed, now);
  const what =
    refused === undefined ? "Still accepted beside" : `Refused with the key, which ${refused}, but kept beside`;
  const next = nextRotation(observed, now);
  const delay = next === undefined || next.delayed === null ? "" : ` ${delayText(next.at)}`;
  return condition("Rotating", "True", "Rotating", `${what} the active version: ${until.join(", ")}.${delay}`);
}

/** Returns why no version of a key is accepted although no version has ended; undefined if versions are accepted. */
function whyRefused({ declared: { state, expiresAt }, references }: ObservedKey, now: number): string | undefined {
  if (references.teamId === null) return "is in a namespace without a team";
  if (state === "Suspended") return "is suspended";
  return expiresAt !== null && expiresAt <= now ? "has expired" : undefined;
}

const ASKED: Readonly<Record<RotationReason, string>> = {
  RequestedByHand: "A rotation was requested by hand.",
  TriggerChanged: "spec.rotation.trigger has changed.",
  IntervalPassed: "spec.rotation.interval has passed.",
};

/** Returns `Reconciling` while a rotation waits: the world is not as declared yet, and kstatus waits for it. */
function delayedRotation(observed: ObservedKey, now: number): StatedCondition[] {
  const next = nextRotation(observed, now);
  if (next === undefined || next.delayed === null) return [];
  return [condition("Reconciling", "True", "RotationDelayed", `${ASKED[next.delayed]} ${delayText(next.at)}`)];
}

function delayText(at: number): string {
  return `The next rotation waits until ${rfc3339(at)}, so that no old version ends before its time.`;
}
