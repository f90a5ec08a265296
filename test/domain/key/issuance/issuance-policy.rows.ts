/** What has a key get another version, and what keeps it from one. */
import { DAY, NOW, SECOND } from "../../rule-table.ts";
import { type KeyTable, NEVER, NOTHING } from "../situations.ts";

const WHY: KeyTable = {
  decision: "What a new version is minted for",
  says: "The first reason that applies is taken, in this order: by hand, trigger, interval, a lost Secret, an edited one.",
  source: "domain/key/issuance/issuance-policy.ts",
  rows: [
    {
      rule: "a person asks for a rotation after the active version was minted",
      from: "at rest",
      change: { stored: { rotationRequest: { at: NOW - 10 * DAY + 1, revokeOld: false } } },
      outcome: { do: "Reserve", number: 2, newKey: false, why: "RequestedByHand" },
    },
    {
      rule: "a version that was minted at the moment of the request fulfils it",
      from: "at rest",
      change: { stored: { rotationRequest: { at: NOW - 10 * DAY, revokeOld: false } } },
      outcome: NOTHING,
    },
    {
      rule: "a request comes before a trigger",
      from: "to rotate",
      change: { stored: { rotationRequest: { at: NOW, revokeOld: false } } },
      outcome: { do: "Reserve", why: "RequestedByHand" },
    },
    {
      rule: "the declaration has another trigger than the active version was minted with",
      from: "at rest",
      change: { declared: { rotationTrigger: "next" } },
      outcome: { do: "Reserve", number: 2, why: "TriggerChanged" },
    },
    {
      rule: "the same trigger asks for nothing",
      from: "to rotate",
      change: { stored: { versions: { 1: { rotationTrigger: "next" } } } },
      outcome: NOTHING,
    },
    {
      rule: "a trigger that is declared no more asks for nothing",
      from: "at rest",
      change: { stored: { versions: { 1: { rotationTrigger: "before" } } } },
      outcome: NOTHING,
    },
    {
      rule: "a trigger comes before an interval",
      from: "at its interval",
      change: { declared: { rotationTrigger: "next" } },
      outcome: { do: "Reserve", why: "TriggerChanged" },
    },
    {
      rule: "the interval is over",
      from: "at its interval",
      change: {},
      outcome: { do: "Reserve", number: 2, why: "IntervalPassed" },
    },
    {
      rule: "the interval is not over 1 ms before",
      from: "at its interval",
      change: { stored: { versions: { 1: { mintedAt: NOW - 2_533_519_677 + 1 } } } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "the interval is over at another moment for another key",
      from: "at its interval",
      change: { stored: { id: "key_2" } },
      outcome: { ...NOTHING, requeueAt: NOW + 22_862_709 },
    },
    {
      rule: "an interval that is over waits while the clock may be set back",
      from: "at its interval",
      change: { steadyFrom: NOW + 1 },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "an interval that is over waits no longer once the clock is steady",
      from: "at its interval",
      change: { steadyFrom: NOW },
      outcome: { do: "Reserve", why: "IntervalPassed" },
    },
    {
      rule: "a version without an interval lasts",
      from: "at its interval",
      change: { declared: { rotationInterval: null } },
      outcome: { ...NOTHING, requeueAt: NEVER },
    },
    {
      rule: "an interval comes before a lost Secret",
      from: "at its interval",
      change: { secret: { state: "absent" } },
      outcome: { do: "Reserve", why: "IntervalPassed" },
    },
    {
      rule: "the Secret is gone",
      from: "at rest",
      change: { secret: { state: "absent" } },
      outcome: { do: "Reserve", number: 2, why: "SecretLost" },
    },
    {
      rule: "the data key in the Secret is gone",
      from: "at rest",
      change: { secret: { holds: "nothing" } },
      outcome: { do: "Reserve", number: 2, why: "SecretLost" },
    },
    {
      rule: "a lost Secret is only reported where the declaration says so",
      from: "lost",
      change: { declared: { secret: { healLost: false } } },
      outcome: NOTHING,
    },
    {
      rule: "a Secret that is lost before its version ends gets another one",
      from: "lost before its end",
      change: {},
      outcome: { do: "Reserve", why: "SecretLost" },
    },
    {
      rule: "a Secret that is lost as its version ends does not: an expired key gets no new life",
      from: "lost before its end",
      change: { stored: { versions: { 1: { mintedAt: NOW - 10 * DAY, expiresAt: NOW } } } },
      outcome: NOTHING,
    },
    {
      rule: "a version whose secret came from elsewhere has no Secret to lose",
      from: "lost",
      change: { stored: { versions: { 1: { imported: true } } } },
      outcome: NOTHING,
    },
    {
      rule: "the Secret holds a value that no version has",
      from: "at rest",
      change: { secret: { holds: "unknown" } },
      outcome: { do: "Reserve", number: 2, why: "SecretTampered" },
    },
    {
      rule: "the Secret holds an old version",
      from: "rotated",
      change: { secret: { holds: 1 } },
      outcome: { do: "Reserve", number: 3, why: "SecretTampered" },
    },
    {
      rule: "an edited Secret is only reported where the declaration says so",
      from: "tampered",
      change: { declared: { secret: { healTampered: false } } },
      outcome: NOTHING,
    },
    {
      rule: "a Secret that is edited before its version ends gets another one",
      from: "tampered before its end",
      change: {},
      outcome: { do: "Reserve", why: "SecretTampered" },
    },
    {
      rule: "a Secret that is edited as its version ends does not",
      from: "tampered before its end",
      change: { stored: { versions: { 1: { mintedAt: NOW - 10 * DAY, expiresAt: NOW } } } },
      outcome: NOTHING,
    },
    {
      rule: "a version whose secret came from elsewhere has no Secret to edit",
      from: "tampered",
      change: { stored: { versions: { 1: { imported: true } } } },
      outcome: NOTHING,
    },
    {
      rule: "a Secret that is not the key's is neither lost nor edited",
      from: "at rest",
      change: { secret: { state: "unmanaged" } },
      outcome: NOTHING,
    },
  ],
};

const PAUSES: KeyTable = {
  decision: "How soon a Secret is made again that is lost again and again",
  says: "At once the first time within the overlap, 5 s after the last mint the second time, and 30 s from the third time on.",
  source: "domain/key/issuance/issuance-policy.ts",
  rows: [
    {
      rule: "the first loss does not wait",
      from: "lost",
      change: { stored: { versions: { 1: { mintedAt: NOW } } } },
      outcome: { do: "Reserve", why: "SecretLost" },
    },
    {
      rule: "the second loss is healed 5 s after the last mint",
      from: "lost again",
      change: {},
      outcome: { do: "Reserve", number: 3, why: "SecretLost" },
    },
    {
      rule: "the second loss is not healed sooner",
      from: "lost again",
      change: { stored: { versions: { 2: { mintedAt: NOW - 5 * SECOND + 1 } } } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "the third loss is healed 30 s after the last mint",
      from: "lost often",
      change: {},
      outcome: { do: "Reserve", number: 4, why: "SecretLost" },
    },
    {
      rule: "the third loss is not healed sooner",
      from: "lost often",
      change: { stored: { versions: { 3: { mintedAt: NOW - 30 * SECOND + 1 } } } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "the fourth loss is healed 30 s after the last mint",
      from: "lost often",
      change: { stored: { versions: { 1: { heals: { reason: "SecretTampered", at: NOW - DAY } } } } },
      outcome: { do: "Reserve", number: 4, why: "SecretLost" },
    },
    {
      rule: "the fourth loss is not healed sooner",
      from: "lost often",
      change: {
        stored: {
          versions: {
            1: { heals: { reason: "SecretTampered", at: NOW - DAY } },
            3: { mintedAt: NOW - 30 * SECOND + 1 },
          },
        },
      },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "an edited Secret waits in the same way",
      from: "lost again",
      change: {
        secret: { state: "ours", holds: "unknown" },
        stored: { versions: { 2: { mintedAt: NOW - 5 * SECOND + 1 } } },
      },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "a loss that no activated version has ended does not count",
      from: "lost again",
      change: {
        stored: {
          versions: {
            3: { state: "reserved", mayBeRead: false, activatedAt: null, heals: { reason: "SecretLost", at: NOW } },
          },
        },
      },
      outcome: { do: "Reserve", number: 4 },
    },
    {
      rule: "a loss from before the overlap does not count",
      from: "lost often",
      change: { stored: { versions: { 2: { state: "retired" }, 3: { mintedAt: NOW - 5 * SECOND } } } },
      outcome: { do: "Reserve", number: 4 },
    },
    {
      rule: "a rotation does not wait for the pause of a loss",
      from: "lost again",
      change: { declared: { rotationTrigger: "next" }, stored: { versions: { 2: { mintedAt: NOW } } } },
      outcome: { do: "Reserve", number: 3, why: "TriggerChanged" },
    },
  ],
};

const BLOCKS: KeyTable = {
  decision: "What keeps a key from a version",
  says: "The controller mints nothing while a version could not be delivered, or should not be. The first check that applies is the reason of the condition `SecretDelivered` (`because`), where the Secret lacks the active version.",
  source: "domain/key/issuance/issuance-block.ts",
  rows: [
    {
      rule: "a new declaration in a namespace without a team gets no version",
      from: "new",
      change: { references: { teamId: null } },
      outcome: { ...NOTHING, because: "NamespaceUnclaimed" },
    },
    {
      rule: "a lost Secret in a namespace without a team gets no version",
      from: "lost",
      change: { references: { teamId: null } },
      outcome: { ...NOTHING, because: "NamespaceUnclaimed" },
    },
    {
      rule: "the team comes before what the declaration refers to",
      from: "new",
      change: { references: { teamId: null, missing: ["There is no gateway."] } },
      outcome: { ...NOTHING, because: "NamespaceUnclaimed" },
    },
    {
      rule: "c25: a lost Secret gets no version by a generation that is older than the stored one",
      from: "lost",
      change: { generation: 0 },
      outcome: { ...NOTHING, because: "Outdated" },
    },
    {
      rule: "a new declaration that refers to what is not there gets no version",
      from: "new",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: { ...NOTHING, because: "ReferenceNotFound" },
    },
    {
      rule: "a key whose declaration refers to what is not there gets no version",
      from: "to rotate",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: { ...NOTHING, because: "Delivered" },
    },
    {
      rule: "a lost Secret whose declaration refers to what is not there gets no version",
      from: "lost",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: { ...NOTHING, because: "ReferenceNotFound" },
    },
    {
      rule: "a new declaration with state Suspended gets no version",
      from: "new",
      change: { declared: { state: "Suspended" } },
      outcome: { ...NOTHING, because: "Suspended" },
    },
    {
      rule: "a suspended key gets no version for another trigger",
      from: "suspended",
      change: { declared: { rotationTrigger: "next" } },
      outcome: { ...NOTHING, because: "Delivered" },
    },
    {
      rule: "a suspended key gets no version for a lost Secret",
      from: "suspended",
      change: { secret: { state: "absent" } },
      outcome: { ...NOTHING, because: "Suspended" },
    },
    {
      rule: "a new declaration gets no version at its end",
      from: "new",
      change: { declared: { expiresAt: NOW } },
      outcome: { ...NOTHING, because: "Expired" },
    },
    {
      rule: "a new declaration gets a version before its end",
      from: "new",
      change: { declared: { expiresAt: NOW + 1 } },
      outcome: { do: "Reserve", policy: { expiresAt: NOW + 1 } },
    },
    {
      rule: "a key gets no version at its end",
      from: "to rotate",
      change: { declared: { expiresAt: NOW }, stored: { policy: { expiresAt: NOW } } },
      outcome: NOTHING,
    },
    {
      rule: "a key gets a version before its end",
      from: "to rotate",
      change: { declared: { expiresAt: NOW + 1 }, stored: { policy: { expiresAt: NOW + 1 } } },
      outcome: { do: "Reserve", why: "TriggerChanged" },
    },
    {
      rule: "a new declaration in a namespace that is being deleted gets no version",
      from: "new",
      change: { namespaceTerminates: true },
      outcome: { ...NOTHING, because: "NamespaceTerminating" },
    },
    {
      rule: "a lost Secret in a namespace that is being deleted gets no version",
      from: "lost",
      change: { namespaceTerminates: true },
      outcome: { ...NOTHING, because: "NamespaceTerminating" },
    },
    {
      rule: "a new declaration gets no version where its Secret's name is taken",
      from: "new",
      change: { secret: { state: "unmanaged" } },
      outcome: { ...NOTHING, because: "SecretConflict" },
    },
    {
      rule: "a key gets no version where its Secret's name is taken",
      from: "to rotate",
      change: { secret: { state: "unmanaged" } },
      outcome: { ...NOTHING, because: "SecretConflict" },
    },
    {
      rule: "c58: a new declaration gets no version while the controller may not read the Secret, which it tries every 30 s",
      from: "new",
      change: { secret: { state: "unreadable", why: "no Role" } },
      outcome: { ...NOTHING, requeueAt: NOW + 30 * SECOND, because: "SecretUnreadable" },
    },
    {
      rule: "c58: a key gets no version while the controller may not read its Secret, which it tries every 30 s",
      from: "to rotate",
      change: { secret: { state: "unreadable", why: "no Role" } },
      outcome: { ...NOTHING, requeueAt: NOW + 30 * SECOND, because: "SecretUnreadable" },
    },
    {
      rule: "a key whose Secret is immutable gets no version",
      from: "to rotate",
      change: { secret: { immutable: true } },
      outcome: { ...NOTHING, because: "SecretImmutable" },
    },
    {
      rule: "a new declaration gets no version where an earlier key left an immutable Secret",
      from: "new",
      change: {
        secret: {
          state: "ours",
          holds: "unknown",
          immutable: true,
          rendered: false,
          owned: false,
          collected: false,
          deleting: false,
        },
      },
      outcome: { ...NOTHING, because: "SecretImmutable" },
    },
    {
      rule: "a new declaration gets a version where an earlier key left a Secret that can be written",
      from: "new",
      change: {
        secret: {
          state: "ours",
          holds: "unknown",
          immutable: false,
          rendered: false,
          owned: false,
          collected: false,
          deleting: false,
        },
      },
      outcome: { do: "Reserve", newKey: true },
    },
  ],
};

export const MINTING_RULES: readonly KeyTable[] = [WHY, PAUSES, BLOCKS];
