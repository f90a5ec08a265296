import { condition, OUTDATED, progressOf, type Reason, type StatedCondition } from "../../conditions.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { issuanceBlock, mayMint, NAMESPACE_TERMINATES } from "../issuance/issuance-block.ts";
import { isLost, isTampered, type RotationReason, wantedVersion } from "../issuance/issuance-policy.ts";
import { nextRotation } from "../issuance/next-rotation.ts";
import {
  keptOffByPolicies,
  policyConditions,
  policyEnded,
  policyEndedText,
  refusedByPolicies,
} from "../issuance/policy-violated.ts";
import { alteredDelivery, alteredSecret, isDataAltered } from "../observed/altered-secret.ts";
import { deliveredVersion, governedKey, isOutdated, type ObservedKey } from "../observed/observed-key.ts";
import { leakedCondition } from "../stored/leak.ts";
import { type RevocationReason, type StoredKey, type StoredVersion, versionIn } from "../stored/stored-key.ts";
import { MAX_RESERVED, retiringEndsAt, supersededReservation } from "../stored/version-room.ts";
import { contestedSecret } from "./contested-secret.ts";
import { staleConsumers } from "./stale-consumers.ts";

/**
 * What the state of the world says about a key to the people who wait for it. `Ready` is True when the world is as
 * declared; `Reconciling` and `Stalled` are present only while True, as kstatus reads them.
 */
export function keyConditions(observed: ObservedKey, now: number): StatedCondition[] {
  const key = governedKey(observed);
  const delivered = secretDelivered(observed, key, now);
  const ready = readiness(observed, key, delivered, now);
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

/** How a key came to be revoked whose declaration does not ask for it. */
export const REVOCATION_MESSAGES: Readonly<Record<RevocationReason, string>> = {
  ByHand: "The key was revoked by hand: by the management API or by keyplane revoke.",
  Leaked: "The key was revoked when it was reported as leaked, as spec.leaks of its PlatformTeam says.",
  Declared: "The key was revoked when its declaration asked for it.",
  Deleted: "The key was revoked when its declaration was deleted.",
  Orphaned: "The key was revoked when its declaration could not be found.",
  Moved: "The key was revoked when its namespace went to another team.",
};

function readiness(
  observed: ObservedKey,
  key: StoredKey | undefined,
  delivered: StatedCondition,
  now: number,
): StatedCondition {
  const { declared, references } = observed;
  const no = (reason: Reason, message: string) => condition("Ready", "False", reason, message);
  const yes = (reason: Reason, message: string) => condition("Ready", "True", reason, message);

  if (observed.deleting) {
    return declared.deletionProtection && key !== undefined && key.state !== "revoked"
      ? no(
          "DeletionProtected",
          `The declaration is being deleted, and its key is protected from deletion: it keeps working.${observed.namespaceTerminates ? ` ${NAMESPACE_TERMINATES}` : ""}`,
        )
      : no("Deleting", "The declaration is being deleted.");
  }
  const refusal = takeOverRefusal(observed);
  if (declared.state === "Revoked" && (key?.state === "revoked" || (key === undefined && !namesKey(observed)))) {
    return yes("Revoked", "The key is revoked, as declared.");
  }
  if (key?.state === "revoked") return no("Revoked", REVOCATION_MESSAGES[key.revocation?.reason ?? "ByHand"]);
  if (references.teamId === null) return no("NamespaceUnclaimed", "No PlatformTeam claims this namespace.");
  if (isOutdated(observed, key)) return no("Outdated", OUTDATED);
  if (refusal !== undefined) return no("TakeOverRefused", refusal);
  const held = refusedByPolicies(observed) ?? keptOffByPolicies(observed);
  if (held !== undefined) return no(...held);
  if (references.missing.length > 0) return no("ReferenceNotFound", references.missing.join(" "));
  if (declared.state === "Suspended") return yes("Suspended", "The key is suspended, as declared.");
  if (policyEnded(observed, now)) return no("PolicyViolated", policyEndedText(observed));
  const ended = endedAt(observed, key, now);
  if (ended !== undefined) return no("Expired", `The key expired at ${rfc3339(ended)}.`);
  if (delivered.status !== "True") return { ...delivered, type: "Ready" };
  if (!observed.confirmed) return no("Confirming", "The last change is on its way to every replica.");
  if (delivered.reason === "SecretAltered") return { ...delivered, type: "Ready" };
  const version = deliveredVersion(observed, key) ?? versionIn(key, "active");
  return yes("Ready", `Version ${version?.number} is delivered and enforced.`);
}

/** Why the key that the declaration names is not taken over; undefined where it is, or none is named. */
function takeOverRefusal({ importable }: ObservedKey): string | undefined {
  return importable !== null && "takeOverRefused" in importable ? importable.takeOverRefused : undefined;
}

/** Whether it has no key yet, and names one to take over. */
function namesKey({ importable }: ObservedKey): boolean {
  return importable !== null && ("takesOver" in importable || "takeOverRefused" in importable);
}

function endedAt({ declared }: ObservedKey, key: StoredKey | undefined, now: number): number | undefined {
  return [declared.expiresAt, versionIn(key, "active")?.expiresAt].find(
    (at): at is number => at !== null && at !== undefined && at <= now,
  );
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

function secretDelivered(observed: ObservedKey, key: StoredKey | undefined, now: number): StatedCondition {
  const { secret, declared } = observed;
  const no = (reason: Reason, message: string) => condition("SecretDelivered", "False", reason, message);
  const name = `Secret ${declared.secret.name}`;
  const active = versionIn(key, "active");
  const delivered = deliveredVersion(observed, key);
  const wanted = wantedVersion(observed, key, now);
  if (active?.imported && (wanted === undefined || wanted.from > now)) {
    const message = `Version ${active.number} (${active.prefix}...) was imported.`;
    return condition("SecretDelivered", "True", "Imported", message);
  }
  if (secret.state === "unmanaged") return no("SecretConflict", `${name} exists and is not this key's.`);
  if (observed.namespaceTerminates) return no("NamespaceTerminating", NAMESPACE_TERMINATES);
  if (secret.state === "unreadable") return no("SecretUnreadable", `${name} cannot be read: ${secret.why}.`);
  if (isEnded(observed, key)) return no("Revoked", "No version of the key works any longer.");
  if (active === undefined) {
    return delivered?.state === "reserved" ? holds(observed, delivered) : no(...unminted(observed, now));
  }
  if (secret.state === "ours" && secret.immutable && wanted !== undefined) {
    return no("SecretImmutable", `${name} is immutable; version ${active.number} stays.`);
  }
  if (delivered?.state === "active" || delivered?.state === "reserved") return holds(observed, delivered);
  const alteration = alteredReservation(observed, now);
  if (alteration !== undefined) return no(...alteration);
  if (isLost(secret) && !declared.secret.healLost)
    return no("SecretLost", `${name} is gone, and spec.secret.onLost is Report.`);
  if (isTampered(secret, active) && !declared.secret.healTampered) {
    return no("SecretTampered", `${name} was edited, and spec.secret.onTampered is Report.`);
  }
  const found = `${name} ${isLost(secret) ? "is gone" : "was edited"}.`;
  const block = issuanceBlock(observed, now);
  if (block !== undefined) return no(block.reason, `${found} ${block.message}`);
  if (wanted === undefined) {
    return no("Expired", `${found} Version ${active.number} has expired, and nothing is minted before a rotation.`);
  }
  if (key !== undefined && wanted.from > now) {
    const what = isLost(secret) ? "SecretLost" : "SecretTampered";
    return no("SecretContested", contestedSecret(observed, key, what, wanted.from, now));
  }
  return no("Minting", `A new version is on its way to the Secret.${reservedInVain(observed, now)}`);
}

function holds(observed: ObservedKey, { number, prefix, state }: StoredVersion): StatedCondition {
  const waits = state === "reserved" ? " It becomes the active one when there is room." : "";
  const message = `Secret ${observed.declared.secret.name} holds version ${number} (${prefix}...).${waits}`;
  const altered = alteredDelivery(observed, number);
  if (altered === undefined) return condition("SecretDelivered", "True", "Delivered", message);
  const status = isDataAltered(altered.fields) ? "False" : "True";
  return condition("SecretDelivered", status, "SecretAltered", `${message} ${alteredSecret(observed, altered)}`);
}

/**
 * Said where the next attempt waits, since controllers have ended one after the other before they knew that the Secret
 * was written.
 */
function reservedInVain(observed: ObservedKey, now: number): string {
  const key = governedKey(observed);
  const from = key && supersededReservation(key, observed.declared, now)?.from;
  if (from === undefined || from <= now) return "";
  return ` ${MAX_RESERVED} attempts have ended with their controller before the Secret was known to be written; the next one begins at ${rfc3339(from)}.`;
}

/** Said where the version that is on its way does not reach the Secret, since something else changes its value there. */
function alteredReservation(observed: ObservedKey, now: number): [Reason, string] | undefined {
  const { altered, held } = observed;
  if (altered === null || altered.version !== held || !mayMint(observed, now)) return undefined;
  return ["SecretAltered", `Version ${held} is not in the Secret. ${alteredSecret(observed, altered)}`];
}

/** Whether nothing is delivered any more: the key is revoked, or is never to be. */
function isEnded({ declared }: ObservedKey, key: StoredKey | undefined): boolean {
  return key === undefined ? declared.state === "Revoked" : key.state === "revoked";
}

/** Why a key that has no active version has none. */
function unminted(observed: ObservedKey, now: number): [Reason, string] {
  const { declared, importable, secret } = observed;
  const refusal = takeOverRefusal(observed);
  if (refusal !== undefined) return ["TakeOverRefused", refusal];
  const block = issuanceBlock(observed, now);
  if (block !== undefined) return [block.reason, block.message];
  if (importable !== null && "problem" in importable) return ["ImportUnusable", importable.problem];
  if (importable === null && secret.state === "ours" && secret.immutable) {
    return [
      "SecretImmutable",
      `Secret ${declared.secret.name} is immutable, and holds an earlier key. Nothing is minted meanwhile.`,
    ];
  }
  const alteration = alteredReservation(observed, now);
  if (alteration !== undefined) return alteration;
  return ["Minting", `No version has been delivered yet.${reservedInVain(observed, now)}`];
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

/** Why no version of a key is accepted though none has ended. */
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

/** The world is not as declared yet where a rotation waits, however well the key works: kstatus waits for it. */
function delayedRotation(observed: ObservedKey, now: number): StatedCondition[] {
  const next = nextRotation(observed, now);
  if (next === undefined || next.delayed === null) return [];
  return [condition("Reconciling", "True", "RotationDelayed", `${ASKED[next.delayed]} ${delayText(next.at)}`)];
}

function delayText(at: number): string {
  return `The next rotation waits until ${rfc3339(at)}, so that no old version ends before its time.`;
}
