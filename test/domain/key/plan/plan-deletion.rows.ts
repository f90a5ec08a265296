/** What is left to do for a declaration that is being deleted. */
import { DAY, NOW } from "../../rule-table.ts";
import { type KeyTable, NOTHING } from "../situations.ts";

const source = "domain/key/plan/plan-deletion.ts";

export const DELETION: KeyTable = {
  decision: "Deletion",
  says: "It needs neither the Secret nor the namespace, and leaves a Secret that stays with a key that works.",
  source,
  rows: [
    {
      rule: "the controller deletes the Secret of a key that has ended",
      from: "deleted and revoked",
      change: {},
      outcome: { do: "DeleteSecret" },
    },
    {
      rule: "Retain does not keep the Secret of a revoked key while that names its declaration as its owner",
      from: "deleted and revoked",
      change: { declared: { retainOnDelete: true } },
      outcome: { do: "DeleteSecret" },
    },
    {
      rule: "secret.creationPolicy Orphan does not keep a Secret that names its declaration as its owner",
      from: "deleted and revoked",
      change: { declared: { secret: { deleteWithKey: false } } },
      outcome: { do: "DeleteSecret" },
    },
    {
      rule: "the controller deletes a Secret that lost the name of its owner, too",
      from: "deleted, its Secret released",
      change: {},
      outcome: { do: "DeleteSecret" },
    },
    {
      rule: "a Secret that names no owner stays with secret.creationPolicy Orphan",
      from: "deleted, its Secret released",
      change: { declared: { secret: { deleteWithKey: false } } },
      outcome: { do: "ReleaseFinalizer" },
    },
    {
      rule: "a Secret that names no owner stays with Retain",
      from: "deleted, its Secret released",
      change: { declared: { retainOnDelete: true } },
      outcome: { do: "ReleaseFinalizer" },
    },
    {
      rule: "the controller lets go of the declaration once the Secret is gone",
      from: "deleted and revoked",
      change: { secret: { state: "absent" } },
      outcome: { do: "ReleaseFinalizer" },
    },
    {
      rule: "c69: the controller lets go of the declaration while another's finalizer holds the deleted Secret",
      from: "deleted and revoked",
      change: { secret: { deleting: true } },
      outcome: { do: "ReleaseFinalizer" },
    },
    {
      rule: "the controller lets go of the declaration where the Secret's name is taken",
      from: "deleted and revoked",
      change: { secret: { state: "unmanaged" } },
      outcome: { do: "ReleaseFinalizer" },
    },
    {
      rule: "the controller lets go of the declaration where it may not read the Secret",
      from: "deleted and revoked",
      change: { secret: { state: "unreadable", why: "no Role" } },
      outcome: { do: "ReleaseFinalizer" },
    },
    {
      rule: "the controller lets go of a declaration that never had a key",
      from: "new",
      change: { deleting: true },
      outcome: { do: "ReleaseFinalizer" },
    },
    {
      rule: "the controller lets go of a declaration whose key was revoked since the namespace moved",
      from: "deleted and revoked",
      change: { stored: { revocation: { reason: "Moved" } }, secret: { state: "absent" } },
      outcome: { do: "ReleaseFinalizer" },
    },
    {
      rule: "the controller does nothing for a deleted declaration without the finalizer",
      from: "deleted and revoked",
      change: { hasFinalizer: false },
      outcome: NOTHING,
    },
    {
      rule: "with Retain the controller first takes the name of its declaration off the Secret",
      from: "retained",
      change: {},
      outcome: { do: "DetachSecret" },
    },
    {
      rule: "with Retain the controller then releases the key",
      from: "retained",
      change: { secret: { owned: false } },
      outcome: { do: "Release" },
    },
    {
      rule: "with Retain the controller releases a key whose Secret is gone",
      from: "retained",
      change: { secret: { state: "absent" } },
      outcome: { do: "Release" },
    },
    {
      rule: "with Retain the controller releases a key whose Secret's name is taken",
      from: "retained",
      change: { secret: { state: "unmanaged" } },
      outcome: { do: "Release" },
    },
    {
      rule: "with Retain the controller activates the version in the Secret before it takes the name of its declaration off",
      from: "retained delivery",
      change: {},
      outcome: { do: "Activate", number: 7, retireOldAt: NOW + DAY },
    },
    { rule: "a protected key rests as declared", from: "protected", change: {}, outcome: NOTHING },
    {
      rule: "a protected key rotates",
      from: "protected",
      change: { declared: { rotationTrigger: "next" } },
      outcome: { do: "Reserve", why: "TriggerChanged" },
    },
    {
      rule: "a protected key that is revoked holds its declaration no more",
      from: "deleted and revoked",
      change: { declared: { deletionProtection: true } },
      outcome: { do: "DeleteSecret" },
    },
    {
      rule: "protection of a key that there is not holds no declaration",
      from: "new",
      change: { deleting: true, declared: { deletionProtection: true } },
      outcome: { do: "ReleaseFinalizer" },
    },
  ],
};
