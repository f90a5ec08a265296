/** What the next step for a declared key is, each rule as one change from a situation: all branches of `planKey`. */
import { DAY, HOUR, NOW } from "../../rule-table.ts";
import { MINTING_RULES } from "../issuance/issuance-policy.rows.ts";
import { type KeyRules, type KeyTable, NEVER, NOTHING, SITUATIONS } from "../situations.ts";
import { ROOM_RULES } from "../stored/version-room.rows.ts";
import { DELETION, LOOKS } from "./plan-deletion.rows.ts";
import { SECRET, VERSIONS } from "./plan-versions.rows.ts";

const source = "domain/key/plan/plan-key.ts";

export const ENDS: KeyTable = {
  decision: "What ends a key",
  says: "It comes before all else (`planEnd`), and needs the declaration and the store alone.",
  source,
  rows: [
    { rule: "a key at rest goes on", from: "at rest", change: {}, outcome: { ...NOTHING, requeueAt: NEVER } },
    {
      rule: "a declaration that is being deleted ends its key",
      from: "at rest",
      change: { deleting: true },
      outcome: { do: "Revoke", reason: "Deleted" },
    },
    {
      rule: "a declaration without the finalizer does not end its key",
      from: "deleted",
      change: { hasFinalizer: false },
      outcome: NOTHING,
    },
    {
      rule: "a declaration with Retain does not end its key as it is deleted",
      from: "deleted",
      change: { declared: { retainOnDelete: true } },
      outcome: { do: "DetachSecret" },
    },
    {
      rule: "Retain keeps a key whose declaration asks for it to be revoked as it is deleted",
      from: "retained",
      change: { declared: { state: "Revoked" } },
      outcome: { do: "DetachSecret" },
    },
    {
      rule: "a key that is protected from deletion does not end with its declaration",
      from: "deleted",
      change: { declared: { deletionProtection: true } },
      outcome: NOTHING,
    },
    {
      rule: "a declaration without a key has none to end",
      from: "deleted",
      change: { stored: undefined },
      outcome: { do: "DeleteSecret" },
    },
    {
      rule: "a declaration with state Revoked ends its key",
      from: "at rest",
      change: { declared: { state: "Revoked" } },
      outcome: { do: "Revoke", reason: "Declared" },
    },
    {
      rule: "the reason is the deletion where the declaration is being deleted, too",
      from: "to revoke",
      change: { deleting: true },
      outcome: { do: "Revoke", reason: "Deleted" },
    },
    {
      rule: "state Revoked ends a key that is protected from deletion",
      from: "protected",
      change: { declared: { state: "Revoked" } },
      outcome: { do: "Revoke", reason: "Declared" },
    },
    {
      rule: "a namespace that goes to another team ends the key",
      from: "at rest",
      change: { references: { teamId: "team-b" } },
      outcome: { do: "Revoke", reason: "Moved" },
    },
    {
      rule: "the reason is the declaration where that asks for it, too",
      from: "to revoke",
      change: { references: { teamId: "team-b" } },
      outcome: { do: "Revoke", reason: "Declared" },
    },
    {
      rule: "a key that is to be suspended ends with the move of its namespace",
      from: "to suspend",
      change: { references: { teamId: "team-b" } },
      outcome: { do: "Revoke", reason: "Moved" },
    },
    {
      rule: "a namespace that loses its team ends no key",
      from: "at rest",
      change: { references: { teamId: null } },
      outcome: NOTHING,
    },
    {
      rule: "a declaration with state Suspended suspends its key",
      from: "at rest",
      change: { declared: { state: "Suspended" } },
      outcome: { do: "UpdatePolicy", policy: { suspended: true } },
    },
    {
      rule: "a declaration with state Suspended suspends a protected key while it is being deleted",
      from: "protected",
      change: { declared: { state: "Suspended" } },
      outcome: { do: "UpdatePolicy", policy: { suspended: true } },
    },
    {
      rule: "c25: a generation that is older than the stored one does not suspend the key",
      from: "to suspend",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "a declaration that only changes ends no key",
      from: "at rest",
      change: { declared: { displayName: "another" } },
      outcome: { do: "UpdatePolicy", policy: { displayName: "another", suspended: false } },
    },
    { rule: "a revoked key stays as it is", from: "revoked", change: {}, outcome: { ...NOTHING, requeueAt: NEVER } },
    {
      rule: "a revoked key keeps its reason where its declaration asks for the same",
      from: "revoked",
      change: { declared: { state: "Revoked" } },
      outcome: NOTHING,
    },
    {
      rule: "a revoked key keeps its policy",
      from: "revoked",
      change: { declared: { displayName: "new" } },
      outcome: NOTHING,
    },
    {
      rule: "a revoked key gets no version for a lost Secret",
      from: "revoked",
      change: { secret: { state: "absent" } },
      outcome: NOTHING,
    },
    {
      rule: "a revoked key gets no version for another trigger",
      from: "revoked",
      change: { declared: { rotationTrigger: "next" } },
      outcome: NOTHING,
    },
    {
      rule: "a key that was revoked since its namespace moved is history: the declaration gets a new key",
      from: "at rest",
      change: { stored: { state: "revoked", revocation: { reason: "Moved", at: NOW, seq: null } } },
      outcome: { do: "Reserve", number: 1, newKey: true, why: "FirstVersion" },
    },
  ],
};

const FINALIZER: KeyTable = {
  decision: "The finalizer, and replicas that have yet to learn of a change",
  says: "A declaration has the finalizer before it has a key, and nothing counts as done before each replica has acknowledged the last change.",
  source,
  rows: [
    {
      rule: "a new declaration gets the finalizer first",
      from: "new",
      change: { hasFinalizer: false },
      outcome: { do: "AddFinalizer" },
    },
    {
      rule: "a declaration that lost it gets it again",
      from: "at rest",
      change: { hasFinalizer: false },
      outcome: { do: "AddFinalizer" },
    },
    {
      rule: "a declaration that is to end its key gets it before that",
      from: "to revoke",
      change: { hasFinalizer: false },
      outcome: { do: "AddFinalizer" },
    },
    {
      rule: "the controller waits for replicas that have yet to acknowledge the last change",
      from: "at rest",
      change: { confirmed: false },
      outcome: { do: "Wait" },
    },
    {
      rule: "the next step does not wait for them",
      from: "to render",
      change: { confirmed: false },
      outcome: { do: "Render" },
    },
  ],
};

const POLICY: KeyTable = {
  decision: "The key's policy",
  says: "The store has what is declared of the key (`policyOf`) before the controller looks at versions.",
  source,
  rows: [
    {
      rule: "the store gets another display name",
      from: "at rest",
      change: { declared: { displayName: "new" } },
      outcome: { do: "UpdatePolicy", policy: { displayName: "new" }, expiresAfter: null },
    },
    {
      rule: "the store gets other scopes",
      from: "at rest",
      change: { declared: { scopes: ["memory:read"] } },
      outcome: { do: "UpdatePolicy", policy: { scopes: ["memory:read"] } },
    },
    {
      rule: "scopes in another order are the same scopes",
      from: "at rest",
      change: { declared: { scopes: ["memory:write", "memory:read"] } },
      outcome: NOTHING,
    },
    {
      rule: "the store gets the gateway that the key is bound to",
      from: "at rest",
      change: { references: { gatewayId: "gw_a" } },
      outcome: { do: "UpdatePolicy", policy: { boundGatewayId: "gw_a" } },
    },
    {
      rule: "a gateway that is not there binds the key to no other one",
      from: "at rest",
      change: { references: { gatewayId: "" } },
      outcome: { do: "UpdatePolicy", policy: { boundGatewayId: "" } },
    },
    {
      rule: "the store gets other libraries",
      from: "at rest",
      change: { references: { libraryIds: ["lib_a"] } },
      outcome: { do: "UpdatePolicy", policy: { libraryIds: ["lib_a"] } },
    },
    {
      rule: "the store gets all libraries of the team",
      from: "at rest",
      change: { references: { libraryIds: null } },
      outcome: { do: "UpdatePolicy", policy: { libraryIds: null } },
    },
    {
      rule: "libraries in another order, or twice, are the same libraries",
      from: "at rest",
      change: { references: { libraryIds: ["lib_b", "lib_a", "lib_b"] } },
      outcome: NOTHING,
    },
    {
      rule: "the store gets another default library",
      from: "at rest",
      change: { references: { mcpDefaultLibraryId: "lib_a" } },
      outcome: { do: "UpdatePolicy", policy: { mcpDefaultLibraryId: "lib_a" } },
    },
    {
      rule: "the store gets other models",
      from: "at rest",
      change: { declared: { allowedModels: ["model-a"] } },
      outcome: { do: "UpdatePolicy", policy: { allowedModels: ["model-a"] } },
    },
    {
      rule: "models in another order, or twice, are the same models",
      from: "at rest",
      change: { declared: { allowedModels: ["model-b", "model-a", "model-b"] } },
      outcome: NOTHING,
    },
    {
      rule: "the store gets the end of the key",
      from: "at rest",
      change: { declared: { expiresAt: NOW + DAY } },
      outcome: { do: "UpdatePolicy", policy: { expiresAt: NOW + DAY } },
    },
    {
      rule: "the store gets the rate limit",
      from: "at rest",
      change: { declared: { rateLimit: { requestsPerMinute: 60, burst: 5 } } },
      outcome: { do: "UpdatePolicy", policy: { rateLimit: { requestsPerMinute: 60, burst: 5 } } },
    },
    {
      rule: "the store gets the bound of concurrent calls",
      from: "at rest",
      change: { declared: { concurrent: 3 } },
      outcome: { do: "UpdatePolicy", policy: { concurrent: 3 } },
    },
    {
      rule: "a suspended key that is declared active works again",
      from: "suspended",
      change: { declared: { state: "Active" } },
      outcome: { do: "UpdatePolicy", policy: { suspended: false } },
    },
    {
      rule: "versions that live get the declared lifetime",
      from: "at rest",
      change: { declared: { expiresAfter: HOUR } },
      outcome: { do: "UpdatePolicy", expiresAfter: HOUR },
    },
    {
      rule: "versions that live lose a lifetime that is declared no more",
      from: "limited",
      change: { declared: { expiresAfter: null } },
      outcome: { do: "UpdatePolicy", expiresAfter: null },
    },
    {
      rule: "an old version that works gets the declared lifetime, too",
      from: "rotated before its end",
      change: { stored: { versions: { 1: { expiresAt: null } } } },
      outcome: { do: "UpdatePolicy", expiresAfter: 10 * DAY },
    },
    {
      rule: "a version that has ended keeps the end that it had",
      from: "rotated before its end",
      change: { stored: { versions: { 1: { state: "retired", expiresAt: null } } } },
      outcome: NOTHING,
    },
    {
      rule: "the store gets a later generation that declares the same",
      from: "at rest",
      change: { generation: 2 },
      outcome: { do: "UpdatePolicy" },
    },
    {
      rule: "c25: a generation that is older than the stored one takes nothing back",
      from: "edited",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "c25: a generation that is older than the stored one ends no old version",
      from: "overdue",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "c25: a generation that is older than the stored one leaves the Secret",
      from: "to render",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "c25: a generation that is older than the stored one mints nothing",
      from: "to rotate",
      change: { generation: 0 },
      outcome: NOTHING,
    },
    {
      rule: "the store gets the policy also while the namespace has no team",
      from: "edited",
      change: { references: { teamId: null } },
      outcome: { do: "UpdatePolicy", policy: { scopes: ["memory:read"] } },
    },
    {
      rule: "the policy comes before old versions that are to end",
      from: "overdue",
      change: { declared: { displayName: "new" } },
      outcome: { do: "UpdatePolicy" },
    },
    {
      rule: "versions stay as they are while the namespace has no team",
      from: "overdue",
      change: { references: { teamId: null } },
      outcome: NOTHING,
    },
  ],
};

const BIRTH: KeyTable = {
  decision: "The first version",
  says: "A declaration without a key has a secret minted, imports one, or takes over a key that a person made.",
  source,
  rows: [
    {
      rule: "the controller reserves version 1 of a new key",
      from: "new",
      change: {},
      outcome: {
        do: "Reserve",
        number: 1,
        newKey: true,
        why: "FirstVersion",
        supersedes: null,
        policy: { scopes: ["memory:read", "memory:write"], suspended: false },
      },
    },
    {
      rule: "a declaration with state Revoked never has a key",
      from: "new",
      change: { declared: { state: "Revoked" } },
      outcome: NOTHING,
    },
    {
      rule: "the controller mints nothing for a declaration that names a key to take over",
      from: "new",
      change: { importable: { takeOverRefused: "it is another team's" } },
      outcome: NOTHING,
    },
    {
      rule: "the controller writes a version that it has reserved into the Secret",
      from: "first reserved",
      change: {},
      outcome: { do: "Publish", number: 1 },
    },
    {
      rule: "the controller activates the version that the Secret holds",
      from: "first delivered",
      change: {},
      outcome: { do: "Activate", number: 1, retireOldAt: NOW + DAY },
    },
    {
      rule: "the controller reserves the next version where the plaintext went with its process",
      from: "first reserved",
      change: { held: null },
      outcome: { do: "Reserve", number: 2, newKey: false, why: "FirstVersion", supersedes: null },
    },
    { rule: "an import waits until its secret has been read", from: "to import", change: {}, outcome: NOTHING },
    {
      rule: "the controller imports the secret that is declared",
      from: "read to import",
      change: {},
      outcome: {
        do: "Import",
        digest: "digest 1",
        prefix: "inf_AbCdEfGh",
        policy: { scopes: ["memory:read", "memory:write"] },
      },
    },
    {
      rule: "the controller imports a secret where the Secret's name is taken: it writes none",
      from: "read to import",
      change: { secret: { state: "unmanaged" } },
      outcome: { do: "Import" },
    },
    {
      rule: "the controller imports the secret of a suspended key",
      from: "read to import",
      change: { declared: { state: "Suspended" } },
      outcome: { do: "Import", policy: { suspended: true } },
    },
    {
      rule: "an import waits for a team",
      from: "read to import",
      change: { references: { teamId: null } },
      outcome: NOTHING,
    },
    {
      rule: "an import waits for all that the declaration refers to",
      from: "read to import",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: NOTHING,
    },
    {
      rule: "an import waits for a secret that can be imported",
      from: "to import",
      change: { importable: { problem: "The Secret is not there." } },
      outcome: NOTHING,
    },
    {
      rule: "a declaration with state Revoked imports nothing",
      from: "read to import",
      change: { declared: { state: "Revoked" } },
      outcome: NOTHING,
    },
    {
      rule: "the controller takes over a key that a person made",
      from: "to take over",
      change: {},
      outcome: { do: "TakeOver", keyId: "key_made" },
    },
    {
      rule: "the controller takes over a key that it is then to revoke",
      from: "to take over",
      change: { declared: { state: "Revoked" } },
      outcome: { do: "TakeOver", keyId: "key_made" },
    },
    {
      rule: "the controller takes over a key that it is then to suspend",
      from: "to take over",
      change: { declared: { state: "Suspended" } },
      outcome: { do: "TakeOver", keyId: "key_made" },
    },
    {
      rule: "a take-over waits for all that the declaration refers to",
      from: "to take over",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: NOTHING,
    },
    {
      rule: "the controller takes over no key that the declaration may not have",
      from: "to import",
      change: { importable: { takeOverRefused: "it is another team's" } },
      outcome: NOTHING,
    },
  ],
};

export const KEY_RULES: KeyRules = {
  title: "The next step for a key",
  bases: SITUATIONS,
  tables: [ENDS, FINALIZER, POLICY, BIRTH, VERSIONS, ...MINTING_RULES, ...ROOM_RULES, SECRET, DELETION, LOOKS],
};
