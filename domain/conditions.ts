/** Catalogue of all condition types and reasons, and of what a reader should do about each (spec §5). */
import { counted } from "./counted.ts";

export const CONDITION_TYPES = [
  "Ready",
  "Accepted",
  "ResolvedRefs",
  "CredentialsAccepted",
  "SecretDelivered",
  "Enforced",
  "Rotating",
  "StaleConsumers",
  "Leaked",
  "PolicyViolated",
  "BudgetExhausted",
  "Embedded",
  "Reconciling",
  "Stalled",
] as const;

type ConditionType = (typeof CONDITION_TYPES)[number];

/** Reasons, each with the next step for the person who reads it; an empty string if there is nothing to do. */
export const REASONS = {
  // what is as declared
  Accepted: "",
  Resolved: "",
  Delivered: "",
  Imported: "",
  Enforced: "",
  Ready: "",
  Suspended: "Set spec.state to Active to let the key work again.",
  Revoked:
    "A revoked secret never works again. Delete the declaration and make it again for a new one, without spec.source and the annotation keyplane.dev/take-over.",
  NotRotating: "",
  NoStaleConsumers: "",
  BudgetLeft: "",
  BudgetHalfUsed: "",
  Claimed: "",
  InForce: "",
  Serving: "",
  NotRefused: "",
  Embedded: "",
  // what is on its way
  Pending: "See that a Keyplane controller runs and serves this namespace.",
  Minting: "",
  Confirming:
    "Server replicas acknowledge the change: within a second, or within a replica's lease after it has crashed or lost the database.",
  RotationDelayed: "keyplane rotate --revoke-old makes it at once, and ends the old versions.",
  Rotating: "Both versions work until the old one's deadline: have consumers reload the Secret before it.",
  Deleting: "",
  Embedding: "",
  // what a person has to act on
  OldVersionInUse: "Have that consumer read the Secret again before then.",
  EndedInUse: "Have that consumer read the Secret again: what it holds is refused.",
  LeakReported: "Make a new version and end this one with keyplane rotate --revoke-old, or revoke the key.",
  BudgetNearlyExhausted: "Use less until then, or raise it in spec.budgets.",
  BudgetExhausted: "Wait until then, or raise it in spec.budgets.",
  Invalid: "Correct the declaration as the message says.",
  NamespaceUnclaimed: "Correct the namespace, or add it to spec.namespaces of a PlatformTeam.",
  PolicyViolated: "Change the key as the message says, or have the platform change its PlatformKeyPolicy.",
  PolicyUnreadable: "Have the platform restore that policy, as the message says.",
  NoTeamSelected: "Correct spec.teamSelector, or declare the team or its label.",
  ReferenceNotFound: "Declare what is referred to, or correct its name and namespace.",
  SecretConflict:
    "Declare another PlatformKey with another spec.secret.name; or delete the Secret that is in the way, unless another PlatformKey writes it.",
  SecretImmutable: "Delete the immutable Secret; it is made again with a new version.",
  SecretLost: "Delete and apply the declaration, rotate the key, or set spec.secret.onLost to Rotate.",
  SecretTampered: "Rotate the key, or set spec.secret.onTampered to Rotate.",
  SecretContested:
    "Find what does that, and have it ignore this Secret (Argo CD and Flux prune what bears their marks); keyplane rotate --revoke-old makes a version at once, and ends the old ones.",
  SecretAltered:
    "Find what changes it (a mutating webhook or policy, or another controller), and have it ignore this Secret.",
  SecretRefused:
    "Have the quota, policy or webhook that the message names admit the change of this Secret. Where fields are invalid, remove what something else has written there, or delete the Secret, which is then made again. The controller retries at least every 30 seconds.",
  SecretUnreadable:
    "Give the controller its Role in this namespace: by keyNamespaces of the chart, or without Helm by infra/rbac/namespace.yaml. In a folder of manifests, correct the Secret's manifest, or put it back.",
  ImportUnusable:
    "Correct the Secret, if spec.source refers to one, or declare another PlatformKey, with another spec.source or none.",
  TakeOverRefused:
    "The key is unchanged. Delete this declaration, and apply the manifest that the console exports on the page of a key made by hand.",
  Expired: "Set spec.expiresAt later, or rotate the key where spec.expiresAfter ended its version.",
  DeletionProtected: "Set spec.deletionProtection to false to let the deletion go on.",
  NamespaceTerminating: "Set spec.deletionProtection to false to let the namespace be deleted, and the key with it.",
  Outdated:
    "Apply it with that many changes, one after the other, such as of displayName; or delete a key and apply it again, for a new key.",
  Retrying: "The controller tries again by itself.",
  NamespaceTaken: "Remove the namespace from this team, or from the one that holds it.",
  PublicIDTaken: "Declare another ModelGateway with another spec.publicID, and delete this one.",
  CredentialNotFound: "Create the Secret that spec.upstreams[].credentialRef names, with that key.",
  CredentialRefused:
    "Write the provider's present credential into that Secret, or name one by spec.upstreams[].credentialRef: the next calls are made with it, without a restart.",
  WebhookSecretNotFound:
    "Create the Secret that spec.webhooks[].secretRef names, with that key: whsec_ and 24 to 64 random bytes in base64.",
  EmbeddingFailed:
    "If the upstream answers 400, 403 or 404, name an embedding model of that provider in spec.embedding.model or its route. If it refuses the credential, write the present one into the Secret of the gateway's upstream. The server retries by itself.",
  EmbeddingKeyRevoked: "Remove spec.embedding, and add it again for a new key.",
  EmbeddingRefused:
    "Correct or forget the atoms that the model refuses, which are found only by their words. The server retries failures by itself.",
  VectorsUnavailable:
    "Run keyplane migrate, which makes the PostgreSQL extension vector or says what an administrator has to do.",
  LibraryNotFound:
    "Declare the MemoryLibrary that spec.mcpAgentPolicy.defaultLibraryRef or spec.members[].libraryRefs names in a namespace of the team.",
} as const satisfies Record<string, string>;

export type Reason = keyof typeof REASONS;

/** A condition as a decision states it; the reconciler adds times and generation. */
export type StatedCondition = {
  readonly type: ConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
};

/** A condition in a status. */
export type ReportedCondition = Readonly<Record<"type" | "reason" | "message", string>> & {
  readonly status: StatedCondition["status"];
  /** Time since which it has its status; RFC 3339. */
  readonly lastTransitionTime: string;
};

/** Severity of a condition for the person who reads it. */
export type Gravity = "wrong" | "under way" | "in order";

/** Condition types whose True means that something is wrong; for all others False does. */
const WRONG_WHEN_TRUE: ReadonlySet<string> = new Set([
  "StaleConsumers",
  "Leaked",
  "PolicyViolated",
  "BudgetExhausted",
  "Stalled",
] satisfies ConditionType[]);

/** Condition types that are present while a controller works, and that are no fault. */
const PROGRESS_TYPES: ReadonlySet<string> = new Set(["Rotating", "Reconciling"] satisfies ConditionType[]);

/** Reasons that end by themselves, soon. */
const TRANSIENT_REASONS: ReadonlySet<string> = new Set([
  "Pending",
  "Minting",
  "Confirming",
  "RotationDelayed",
  "Rotating",
  "Deleting",
  "Embedding",
] satisfies Reason[]);

/** Returns the severity of a condition, also of a type that is unknown to this build. */
export function gravityOf({ type, status, reason }: Pick<ReportedCondition, "type" | "status" | "reason">): Gravity {
  if (PROGRESS_TYPES.has(type)) return status === "True" ? "under way" : "in order";
  const isFine = WRONG_WHEN_TRUE.has(type) ? status === "False" : status === "True";
  if (isFine) return "in order";
  return status === "Unknown" || TRANSIENT_REASONS.has(reason) ? "under way" : "wrong";
}

/** Maximum length of a condition's message, by the kinds' schemas: the API server refuses a longer one. */
const MAX_MESSAGE = 4_096;

/** Builds a condition. The catalogue's advice for the reason is appended to the message, which is truncated to fit. */
export function condition(
  type: ConditionType,
  status: StatedCondition["status"],
  reason: Reason,
  message: string,
): StatedCondition {
  const advice = REASONS[reason] === "" ? "" : ` ${REASONS[reason]}`;
  const sentence = advice === "" || /[.?!]$/.test(message) ? message : `${message}.`;
  const space = MAX_MESSAGE - advice.length;
  const said = sentence.length > space ? `${sentence.slice(0, space - 1)}…` : sentence;
  return { type, status, reason, message: said + advice };
}

/** Returns the condition of a type among those of a status or a plan; undefined if there is none. */
export function findCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: ConditionType,
): C | undefined {
  return conditions?.find((one) => one.type === type);
}

/**
 * Returns the message for a declaration that is older than the one last applied: only a person knows which of the two is
 * meant. Each change of the spec is one generation.
 */
export function outdatedText(shown: number, applied: number): string {
  return `Generation ${applied} of this declaration has been applied, and the cluster shows generation ${shown}: it counts again after ${counted(applied - shown, "change")} of its spec.`;
}

/** Reasons that only a person can end: neither time nor other objects that are being applied can. */
const STALLED: ReadonlySet<Reason> = new Set<Reason>([
  "Invalid",
  "Revoked",
  "Expired",
  "SecretConflict",
  "SecretImmutable",
  "SecretLost",
  "SecretTampered",
  "TakeOverRefused",
  "PolicyViolated",
  "NamespaceTaken",
  "PublicIDTaken",
]);

/**
 * Returns the condition for tools that wait, by kstatus' rules: `Stalled` is a failure, `Reconciling` is in progress,
 * and
 * each is present only while it is True.
 */
export function progressOf(ready: StatedCondition): StatedCondition[] {
  if (ready.status === "True") return [];
  return [{ ...ready, type: STALLED.has(ready.reason) ? "Stalled" : "Reconciling", status: "True" }];
}
