/** What revokes a key that works, or suspends it. */
import { NOW } from "../../rule-table.ts";
import { type KeyTable, NEVER, NOTHING } from "../situations.ts";

const source = "domain/key/plan/plan-end.ts";

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
      rule: "c112: a declaration that is being deleted without the finalizer, as another's holds it, ends its key",
      from: "deleted",
      change: { hasFinalizer: false },
      outcome: { do: "Revoke", reason: "Deleted" },
    },
    {
      rule: "c112: a protected declaration with state Revoked ends its key also as it is deleted without the finalizer",
      from: "deleted",
      change: { hasFinalizer: false, declared: { deletionProtection: true, state: "Revoked" } },
      outcome: { do: "Revoke", reason: "Declared" },
    },
    {
      rule: "a declaration with state Revoked gets the finalizer before it ends its key",
      from: "to revoke",
      change: { hasFinalizer: false },
      outcome: { do: "AddFinalizer" },
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
      rule: "b448: Retain keeps no key whose namespace another team has got",
      from: "retained",
      change: { references: { teamId: "team-b" } },
      outcome: { do: "Revoke", reason: "Moved" },
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
