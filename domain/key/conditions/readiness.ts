import { condition, outdatedText, type Reason, type StatedCondition } from "../../conditions.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { NAMESPACE_TERMINATES } from "../issuance/issuance-block.ts";
import { keptOffByPolicies, policyEnded, policyEndedText, refusedByPolicies } from "../issuance/policy-violated.ts";
import { deliveredVersion, isOutdated, type ObservedKey } from "../observed/observed-key.ts";
import { type RevocationReason, type StoredKey, versionIn } from "../stored/stored-key.ts";
import { type ConditionChecks, firstStated, type KeySituation } from "./condition-check.ts";

/** Messages about a key that is revoked though its declaration does not ask for it. */
export const REVOCATION_MESSAGES: Readonly<Record<RevocationReason, string>> = {
  ByHand: "The key was revoked by hand: in the console, by the management API or by keyplane revoke.",
  Leaked: "The key was revoked when it was reported as leaked, as spec.leaks of its PlatformTeam says.",
  Declared: "The key was revoked when its declaration asked for it.",
  Deleted: "The key was revoked when its declaration was deleted.",
  Orphaned: "The key was revoked when its declaration could not be found.",
  Moved: "The key was revoked when its namespace went to another team.",
};

type ReadinessSituation = KeySituation & { readonly delivered: StatedCondition };

const yes = (reason: Reason, message: string) => condition("Ready", "True", reason, message);
const no = (reason: Reason, message: string) => condition("Ready", "False", reason, message);

const READINESS: ConditionChecks<ReadinessSituation> = {
  deletionProtected: ({ observed, key }) =>
    isHeldByProtection(observed, key) && no("DeletionProtected", protectionText(observed)),
  deleting: ({ observed }) => observed.deleting && no("Deleting", "The declaration is being deleted."),
  revokedAsDeclared: ({ observed, key }) =>
    isRevokedAsDeclared(observed, key) && yes("Revoked", "The key is revoked, as declared."),
  revoked: ({ key }) =>
    key?.state === "revoked" && no("Revoked", REVOCATION_MESSAGES[key.revocation?.reason ?? "ByHand"]),
  unclaimed: ({ observed }) =>
    observed.references.teamId === null && no("NamespaceUnclaimed", "No PlatformTeam claims this namespace."),
  outdated: ({ observed, key }) =>
    key !== undefined && isOutdated(observed, key) && no("Outdated", outdatedText(observed.generation, key.generation)),
  takeOverRefused: ({ observed: { importable } }) =>
    importable !== null && "takeOverRefused" in importable && no("TakeOverRefused", importable.takeOverRefused),
  heldByPolicies: ({ observed }) => {
    const held = refusedByPolicies(observed) ?? keptOffByPolicies(observed);
    return held && no(...held);
  },
  referenceMissing: ({ observed: { references } }) =>
    references.missing.length > 0 && no("ReferenceNotFound", references.missing.join(" ")),
  suspended: ({ observed }) =>
    observed.declared.state === "Suspended" && yes("Suspended", "The key is suspended, as declared."),
  endedByPolicies: ({ observed, now }) => policyEnded(observed, now) && no("PolicyViolated", policyEndedText(observed)),
  expired: ({ observed, key, now }) => {
    const ended = endedAt(observed, key, now);
    return ended !== undefined && no("Expired", `The key expired at ${rfc3339(ended)}.`);
  },
  undelivered: ({ observed, delivered }) => {
    // A new version is written once the one before it, or none, is known everywhere.
    const isHeldBack = delivered.reason === "Minting" && !observed.confirmed;
    return delivered.status !== "True" && !isHeldBack && { ...delivered, type: "Ready" };
  },
  unconfirmed: ({ observed }) =>
    !observed.confirmed && no("Confirming", "The last change is on its way to every replica."),
  altered: ({ delivered }) => delivered.reason === "SecretAltered" && { ...delivered, type: "Ready" },
};

/** States whether the world is as declared. */
export function keyReadiness(situation: ReadinessSituation): StatedCondition {
  const { observed, key } = situation;
  const version = deliveredVersion(observed, key) ?? versionIn(key, "active");
  return firstStated(READINESS, situation) ?? yes("Ready", `Version ${version?.number} is delivered and enforced.`);
}

function isHeldByProtection({ declared, deleting }: ObservedKey, key: StoredKey | undefined): boolean {
  return deleting && declared.deletionProtection && key !== undefined && key.state !== "revoked";
}

function protectionText({ namespaceTerminates }: ObservedKey): string {
  const text = "The declaration is being deleted, and its key is protected from deletion: it keeps working.";
  return namespaceTerminates ? `${text} ${NAMESPACE_TERMINATES}` : text;
}

/** True if the declaration asks for a revoked key, and there is none that works or is to be taken over. */
function isRevokedAsDeclared({ declared, importable }: ObservedKey, key: StoredKey | undefined): boolean {
  if (declared.state !== "Revoked") return false;
  const namesKey = importable !== null && ("takesOver" in importable || "takeOverRefused" in importable);
  return key?.state === "revoked" || (key === undefined && !namesKey);
}

function endedAt({ declared }: ObservedKey, key: StoredKey | undefined, now: number): number | undefined {
  return [declared.expiresAt, versionIn(key, "active")?.expiresAt].find(
    (at): at is number => at !== null && at !== undefined && at <= now,
  );
}
