/** What Ready and SecretDelivered say of a key: a row for each check, and for which of two that apply comes first. */
import type { Reason } from "../../../../domain/conditions.ts";
import { HOUR, MINUTE, NOW, type RuleSet, type RuleTable } from "../../rule-table.ts";
import { SITUATIONS, type Situation } from "../situations.ts";

type Stated = { readonly status: "True" | "False"; readonly reason: Reason };
/** A condition's status and reason. */
type Outcome = { readonly Ready?: Stated; readonly SecretDelivered?: Stated };
type Base = keyof typeof SITUATIONS;
type Row = RuleTable<Base, Situation, Outcome>["rows"][number];

const yes = (reason: Reason): Stated => ({ status: "True", reason });
const no = (reason: Reason): Stated => ({ status: "False", reason });

const OURS = {
  state: "ours",
  holds: 1,
  immutable: false,
  rendered: true,
  owned: true,
  collected: true,
  deleting: false,
} as const;
const unclaimed = { references: { teamId: null } } as const;

const READINESS: readonly Row[] = [
  { rule: "a key that is as declared is ready", from: "at rest", change: {}, outcome: { Ready: yes("Ready") } },
  {
    rule: "a key that is protected from deletion keeps its declaration",
    from: "protected",
    change: {},
    outcome: { Ready: no("DeletionProtected") },
  },
  {
    rule: "a revoked key is protected from nothing",
    from: "protected",
    change: { stored: { state: "revoked" } },
    outcome: { Ready: no("Deleting") },
  },
  {
    rule: "a declaration that is being deleted says nothing else",
    from: "deleted",
    change: unclaimed,
    outcome: { Ready: no("Deleting") },
  },
  {
    rule: "a key that is revoked as declared is as declared",
    from: "revoked",
    change: { declared: { state: "Revoked" } },
    outcome: { Ready: yes("Revoked") },
  },
  {
    rule: "so is one that never was",
    from: "new",
    change: { declared: { state: "Revoked" } },
    outcome: { Ready: yes("Revoked") },
  },
  {
    rule: "a key to take over is not revoked before it is taken over",
    from: "to take over",
    change: { declared: { state: "Revoked" } },
    outcome: { Ready: no("Revoked") },
  },
  {
    rule: "a key that was revoked otherwise says so before anything else",
    from: "revoked",
    change: unclaimed,
    outcome: { Ready: no("Revoked") },
  },
  {
    rule: "a namespace without a team comes before what its team decides",
    from: "suspended",
    change: unclaimed,
    outcome: { Ready: no("NamespaceUnclaimed") },
  },
  {
    rule: "an older declaration than the one that was applied waits for a person",
    from: "at rest",
    change: { generation: 0 },
    outcome: { Ready: no("Outdated") },
  },
  {
    rule: "a key that may not be taken over says so before what else it lacks",
    from: "new",
    change: {
      importable: { takeOverRefused: "It is another team's." },
      references: { missing: ["Gateway g is not there."] },
    },
    outcome: { Ready: no("TakeOverRefused") },
  },
  {
    rule: "a policy that refuses a new key comes before a reference that is missing",
    from: "new",
    change: { verdict: { refused: ["No."] }, references: { missing: ["Gateway g is not there."] } },
    outcome: { Ready: no("PolicyViolated") },
  },
  {
    rule: "a policy that cannot be read refuses a new key",
    from: "new",
    change: { verdict: { unreadable: ["p"] } },
    outcome: { Ready: no("PolicyUnreadable") },
  },
  {
    rule: "a reference that is missing comes before a suspension",
    from: "suspended",
    change: { references: { missing: ["Gateway g is not there."] } },
    outcome: { Ready: no("ReferenceNotFound") },
  },
  {
    rule: "a key that is suspended as declared is as declared",
    from: "suspended",
    change: {},
    outcome: { Ready: yes("Suspended") },
  },
  {
    rule: "a key ends with the grace period of a policy that it breaks",
    from: "at rest",
    change: { verdict: { ends: ["It has no end."], endsAt: NOW } },
    outcome: { Ready: no("PolicyViolated") },
  },
  {
    rule: "it is ready until then",
    from: "at rest",
    change: { verdict: { ends: ["It has no end."], endsAt: NOW + 1 } },
    outcome: { Ready: yes("Ready") },
  },
  {
    rule: "a key has expired at its declared end",
    from: "ending",
    change: { declared: { expiresAt: NOW } },
    outcome: { Ready: no("Expired") },
  },
  {
    rule: "a key is ready until its declared end",
    from: "ending",
    change: { declared: { expiresAt: NOW + 1 } },
    outcome: { Ready: yes("Ready") },
  },
  {
    rule: "a key has expired with its active version",
    from: "limited",
    change: { stored: { versions: { 1: { expiresAt: NOW } } } },
    outcome: { Ready: no("Expired") },
  },
  {
    rule: "a version is not delivered before each replica has acknowledged it",
    from: "new",
    change: { confirmed: false },
    outcome: { Ready: no("Confirming") },
  },
  {
    rule: "what keeps a version from its Secret comes before replicas that have yet to learn of it",
    from: "new",
    change: { confirmed: false, secret: { state: "unmanaged" } },
    outcome: { Ready: no("SecretConflict") },
  },
  {
    rule: "a key is ready once each replica has acknowledged the last change",
    from: "at rest",
    change: { confirmed: false },
    outcome: { Ready: no("Confirming") },
  },
  {
    rule: "a delivered Secret that something else changes leaves the key ready, and says so",
    from: "altered",
    change: {},
    outcome: { Ready: yes("SecretAltered"), SecretDelivered: yes("SecretAltered") },
  },
  {
    rule: "a data key of it that something else changes does not",
    from: "altered",
    change: { altered: { fields: ["data[api-key]"] } },
    outcome: { Ready: no("SecretAltered"), SecretDelivered: no("SecretAltered") },
  },
];

const immutable = { secret: { immutable: true } } as const;

const DELIVERY: readonly Row[] = [
  {
    rule: "the Secret holds the active version",
    from: "at rest",
    change: {},
    outcome: { SecretDelivered: yes("Delivered") },
  },
  {
    rule: "an imported version needs no Secret",
    from: "lost",
    change: { stored: { versions: { 1: { imported: true } } } },
    outcome: { SecretDelivered: yes("Imported") },
  },
  {
    rule: "its next version does",
    from: "lost",
    change: { stored: { versions: { 1: { imported: true } } }, declared: { rotationTrigger: "next" } },
    outcome: { SecretDelivered: no("Minting") },
  },
  {
    rule: "a Secret of another stays as it is",
    from: "at rest",
    change: { secret: { state: "unmanaged" }, namespaceTerminates: true },
    outcome: { SecretDelivered: no("SecretConflict") },
  },
  {
    rule: "a namespace that is being deleted takes no Secret",
    from: "at rest",
    change: { secret: { state: "unreadable", why: "it is forbidden" }, namespaceTerminates: true },
    outcome: { SecretDelivered: no("NamespaceTerminating") },
  },
  {
    rule: "a Secret that cannot be read comes before the end of the key",
    from: "revoked",
    change: { secret: { state: "unreadable", why: "it is forbidden" } },
    outcome: { SecretDelivered: no("SecretUnreadable") },
  },
  {
    rule: "a revoked key has no version that works",
    from: "revoked",
    change: {},
    outcome: { SecretDelivered: no("Revoked") },
  },
  {
    rule: "a key that is never to be has none either",
    from: "new",
    change: { declared: { state: "Revoked" } },
    outcome: { SecretDelivered: no("Revoked") },
  },
  {
    rule: "the first version is delivered before it is active",
    from: "first delivered",
    change: {},
    outcome: { SecretDelivered: yes("Delivered") },
  },
  {
    rule: "a key that may not be taken over has no version",
    from: "new",
    change: { importable: { takeOverRefused: "It is another team's." } },
    outcome: { SecretDelivered: no("TakeOverRefused") },
  },
  {
    rule: "what blocks a mint is why there is no version",
    from: "new",
    change: unclaimed,
    outcome: { SecretDelivered: no("NamespaceUnclaimed") },
  },
  {
    rule: "a secret that cannot be imported is why there is no version",
    from: "to import",
    change: { importable: { problem: "The data key is not there." } },
    outcome: { SecretDelivered: no("ImportUnusable") },
  },
  {
    rule: "an immutable Secret takes no first version",
    from: "new",
    change: { secret: { ...OURS, immutable: true } },
    outcome: { SecretDelivered: no("SecretImmutable") },
  },
  {
    rule: "a first version whose value something else changes is not delivered",
    from: "first reserved",
    change: {
      secret: { ...OURS, holds: "unknown", rendered: false },
      altered: { version: 1, fields: ["data[api-key]"], isShownInAnswer: true, writtenAt: NOW - MINUTE },
    },
    outcome: { SecretDelivered: no("SecretAltered") },
  },
  {
    rule: "a new key waits for its mint",
    from: "new",
    change: {},
    outcome: { SecretDelivered: no("Minting") },
  },
  {
    rule: "an immutable Secret keeps its version",
    from: "to rotate",
    change: immutable,
    outcome: { SecretDelivered: no("SecretImmutable") },
  },
  {
    rule: "an immutable Secret with the version that is wanted is no fault",
    from: "at rest",
    change: immutable,
    outcome: { SecretDelivered: yes("Delivered") },
  },
  {
    rule: "the next version is delivered before it is active",
    from: "delivered",
    change: {},
    outcome: { SecretDelivered: yes("Delivered") },
  },
  {
    rule: "a next version whose value something else changes is not delivered",
    from: "altered reservation",
    change: {},
    outcome: { SecretDelivered: no("SecretAltered") },
  },
  {
    rule: "a lost Secret is only reported, as declared",
    from: "lost",
    change: { declared: { secret: { healLost: false } } },
    outcome: { SecretDelivered: no("SecretLost") },
  },
  {
    rule: "an edited Secret is only reported, as declared",
    from: "tampered",
    change: { declared: { secret: { healTampered: false } } },
    outcome: { SecretDelivered: no("SecretTampered") },
  },
  {
    rule: "what blocks a mint keeps a lost Secret as it is",
    from: "lost",
    change: { declared: { state: "Suspended" } },
    outcome: { SecretDelivered: no("Suspended") },
  },
  {
    rule: "a version that has ended is not made again",
    from: "lost before its end",
    change: { stored: { versions: { 1: { expiresAt: NOW } } } },
    outcome: { SecretDelivered: no("Expired") },
  },
  {
    rule: "a lost Secret gets another version at once",
    from: "lost",
    change: {},
    outcome: { SecretDelivered: no("Minting") },
  },
  {
    rule: "one that is lost again and again waits",
    from: "lost often",
    change: { stored: { versions: { 3: { mintedAt: NOW - MINUTE / 4 } } } },
    outcome: { SecretDelivered: no("SecretContested") },
  },
  {
    rule: "one that was lost an hour ago does not",
    from: "lost again",
    change: { stored: { versions: { 2: { mintedAt: NOW - HOUR } } } },
    outcome: { SecretDelivered: no("Minting") },
  },
];

export const CONDITION_RULES: RuleSet<Base, Situation, Outcome> = {
  title: "What a key's conditions say",
  bases: SITUATIONS,
  tables: [
    {
      decision: "Ready",
      says: "`Ready` says whether the world is as declared; of several reasons it has the first.",
      source: "domain/key/conditions/readiness.ts",
      rows: READINESS,
    },
    {
      decision: "SecretDelivered",
      says: "`SecretDelivered` says whether the Secret holds the version that it should.",
      source: "domain/key/conditions/secret-delivered.ts",
      rows: DELIVERY,
    },
  ],
};
