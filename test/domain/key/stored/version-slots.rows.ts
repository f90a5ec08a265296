/** How many versions of a key go on side by side, and for how long. */
import { DAY, HOUR, MINUTE, NOW } from "../../rule-table.ts";
import { type KeyTable, NOTHING } from "../situations.ts";

const source = "domain/key/stored/version-slots.ts";

const SLOTS: KeyTable = {
  decision: "Room for another version",
  says: "Four old versions go on beside the active one. None ends early for another: the next version waits until the first of them ends.",
  source,
  rows: [
    {
      rule: "a rotation waits until the first of four old versions ends",
      from: "crowded",
      change: {},
      outcome: { ...NOTHING, requeueAt: NOW + HOUR },
    },
    {
      rule: "a rotation does not wait beside three old versions",
      from: "crowded",
      change: { stored: { versions: { 1: { state: "retired" } } } },
      outcome: { do: "Reserve", number: 6 },
    },
    {
      rule: "an old version that has reached its end takes no room, also where the clock may be set back",
      from: "crowded",
      change: { steadyFrom: NOW + 1, stored: { versions: { 1: { retireAt: NOW } } } },
      outcome: { do: "Reserve", number: 6 },
    },
    {
      rule: "an old version that has yet to reach its end takes room",
      from: "crowded",
      change: { steadyFrom: NOW + 1, stored: { versions: { 1: { retireAt: NOW + 1 } } } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "a rotation by hand that ends the old versions needs no room",
      from: "crowded",
      change: { stored: { rotationRequest: { at: NOW, revokeOld: true } } },
      outcome: { do: "Reserve", number: 6, why: "RequestedByHand" },
    },
    {
      rule: "a rotation by hand that keeps the old versions waits",
      from: "crowded",
      change: { stored: { rotationRequest: { at: NOW, revokeOld: false } } },
      outcome: { ...NOTHING, requeueAt: NOW + HOUR },
    },
    {
      rule: "a rotation without an overlap needs no room",
      from: "crowded",
      change: { declared: { overlap: { duration: 0 } } },
      outcome: { do: "Reserve", number: 6 },
    },
    {
      rule: "a lost Secret waits for room",
      from: "crowded",
      change: { declared: { rotationTrigger: null }, secret: { state: "absent" } },
      outcome: { ...NOTHING, requeueAt: NOW + HOUR },
    },
  ],
};

const ACTIVATION: KeyTable = {
  decision: "How long a succeeded version goes on, and room for those",
  says: "The version in the Secret works at once. It becomes the active one when there is room for all that it succeeds: the active version, and each reserved one that a workload may have read.",
  source,
  rows: [
    {
      rule: "by adoption the succeeded version goes on for the longest declared overlap",
      from: "delivered",
      change: { declared: { overlap: { mode: "Adoption", min: HOUR, max: 2 * HOUR, quiet: MINUTE } } },
      outcome: { do: "Activate", number: 2, retireOldAt: NOW + 2 * HOUR },
    },
    {
      rule: "without an overlap the succeeded version ends at once",
      from: "delivered",
      change: { declared: { overlap: { duration: 0 } } },
      outcome: { do: "Activate", number: 2, retireOldAt: NOW },
    },
    {
      rule: "the succeeded version ends at once where a person has asked for that since it was minted",
      from: "delivered",
      change: { stored: { rotationRequest: { at: NOW - 10 * DAY + 1, revokeOld: true } } },
      outcome: { do: "Activate", number: 2, retireOldAt: NOW },
    },
    {
      rule: "a request that the succeeded version fulfilled does not end it at once",
      from: "delivered",
      change: { stored: { rotationRequest: { at: NOW - 10 * DAY, revokeOld: true } } },
      outcome: { do: "Activate", number: 2, retireOldAt: NOW + DAY },
    },
    {
      rule: "a rotation by hand that keeps old versions does not end the succeeded version at once",
      from: "delivered",
      change: { stored: { rotationRequest: { at: NOW, revokeOld: false } } },
      outcome: { do: "Activate", number: 2, retireOldAt: NOW + DAY },
    },
    {
      rule: "a key without an active version ends old ones at once where a person has asked for that",
      from: "first delivered",
      change: { stored: { rotationRequest: { at: NOW, revokeOld: true } } },
      outcome: { do: "Activate", number: 1, retireOldAt: NOW },
    },
    {
      rule: "two succeeded versions find room beside two old ones",
      from: "crowded delivery",
      change: {},
      outcome: { do: "Activate", number: 7, retireOldAt: NOW + DAY },
    },
    {
      rule: "c66: two succeeded versions beside three old ones wait until the first of those ends",
      from: "crowded delivery",
      change: { stored: { versions: { 2: { state: "retiring", retireAt: NOW + 3 * HOUR } } } },
      outcome: { ...NOTHING, requeueAt: NOW + HOUR },
    },
    {
      rule: "a reserved version that no workload can have read takes no room",
      from: "crowded delivery",
      change: { stored: { versions: { 2: { state: "retiring", retireAt: NOW + 3 * HOUR }, 6: { mayBeRead: false } } } },
      outcome: { do: "Activate", number: 7 },
    },
    {
      rule: "two succeeded versions beside four old ones wait until the second of those ends",
      from: "crowded delivery",
      change: {
        steadyFrom: NOW + 1,
        stored: {
          versions: { 1: { state: "retiring", retireAt: NOW }, 2: { state: "retiring", retireAt: NOW + 3 * HOUR } },
        },
      },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "two succeeded versions beside four old ones wait no longer than that",
      from: "crowded delivery",
      change: {
        steadyFrom: NOW + 1,
        stored: { versions: { 1: { state: "retiring", retireAt: NOW }, 2: { state: "retiring", retireAt: NOW } } },
      },
      outcome: { do: "Activate", number: 7 },
    },
    {
      rule: "what ends at once needs no room",
      from: "crowded delivery",
      change: {
        declared: { overlap: { duration: 0 } },
        stored: { versions: { 2: { state: "retiring", retireAt: NOW + 3 * HOUR } } },
      },
      outcome: { do: "Activate", number: 7, retireOldAt: NOW },
    },
    {
      rule: "with Retain a delivered version waits for room, too",
      from: "retained delivery",
      change: { stored: { versions: { 2: { state: "retiring", retireAt: NOW + 3 * HOUR } } } },
      outcome: { ...NOTHING, requeueAt: NOW + HOUR },
    },
  ],
};

const RESERVATIONS: KeyTable = {
  decision: "Reservations whose controller ended",
  says: "Four reservations stand at a time. The oldest makes way for the fifth, a minute after the one that came next: by then no write of it can arrive.",
  source,
  rows: [
    {
      rule: "a reservation that no workload can have read is voided for the fifth",
      from: "reserved in vain",
      change: {},
      outcome: { do: "Reserve", number: 5, newKey: false, why: "FirstVersion", supersedes: { number: 1, endsAt: NOW } },
    },
    {
      rule: "no reservation is voided before that minute is over",
      from: "reserved in vain",
      change: { stored: { versions: { 2: { mintedAt: NOW - MINUTE + 1 } } } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "the age of the reservation itself does not matter",
      from: "reserved in vain",
      change: { stored: { versions: { 1: { mintedAt: NOW - DAY } } } },
      outcome: { do: "Reserve", number: 5, supersedes: { number: 1, endsAt: NOW } },
    },
    {
      rule: "beside three reservations the fourth voids none",
      from: "reserved in vain",
      change: { stored: { versions: { 1: { state: "voided" } } } },
      outcome: { do: "Reserve", number: 5, supersedes: null },
    },
    {
      rule: "c66: a reservation that a workload may have read begins its overlap",
      from: "reserved in vain",
      change: { stored: { versions: { 1: { mayBeRead: true } } } },
      outcome: { do: "Reserve", number: 5, supersedes: { number: 1, endsAt: NOW + DAY } },
    },
    {
      rule: "c66: a reservation that a workload may have read ends at once where a person has asked for that",
      from: "reserved in vain",
      change: { stored: { rotationRequest: { at: NOW, revokeOld: true }, versions: { 1: { mayBeRead: true } } } },
      outcome: { do: "Reserve", number: 5, supersedes: { number: 1, endsAt: NOW } },
    },
  ],
};

export const SLOT_RULES: readonly KeyTable[] = [SLOTS, ACTIVATION, RESERVATIONS];
