/** When the controller looks again by itself. */
import { DAY, HOUR, MINUTE, NOW, SECOND } from "../../rule-table.ts";
import { type KeyTable, NEVER, NOTHING } from "../situations.ts";

const source = "domain/key/plan/next-deadline.ts";

export const LOOKS: KeyTable = {
  decision: "When the controller looks again by itself",
  says: "At the next moment at which time alone changes something; for what changes otherwise there are watches and the feed.",
  source,
  rows: [
    {
      rule: "the controller does not look again at a revoked key",
      from: "deleted and revoked",
      change: { steadyFrom: NOW + 1 },
      outcome: { do: "DeleteSecret", requeueAt: NEVER },
    },
    {
      rule: "the controller does not look again at a declaration without a key",
      from: "new",
      change: { steadyFrom: NOW + 1 },
      outcome: { do: "Reserve", requeueAt: NEVER },
    },
    {
      rule: "the controller looks again as the key ends",
      from: "ending",
      change: {},
      outcome: { ...NOTHING, requeueAt: NOW + HOUR },
    },
    {
      rule: "the controller does not look again for an end that has passed",
      from: "ending",
      change: { declared: { expiresAt: NOW }, stored: { policy: { expiresAt: NOW } } },
      outcome: { ...NOTHING, requeueAt: NEVER },
    },
    {
      rule: "the controller looks again a week before the key ends, to warn of it",
      from: "ending",
      change: { declared: { expiresAt: NOW + 8 * DAY }, stored: { policy: { expiresAt: NOW + 8 * DAY } } },
      outcome: { ...NOTHING, requeueAt: NOW + DAY },
    },
    {
      rule: "the controller looks again as the active version ends",
      from: "limited",
      change: {},
      outcome: { ...NOTHING, requeueAt: NOW + HOUR },
    },
    {
      rule: "the controller looks again as an old version ends",
      from: "rotated",
      change: {},
      outcome: { ...NOTHING, requeueAt: NOW + DAY },
    },
    {
      rule: "the controller looks again as the interval is over",
      from: "at its interval",
      change: { stored: { versions: { 1: { mintedAt: NOW - 2_533_519_677 + HOUR } } } },
      outcome: { ...NOTHING, requeueAt: NOW + HOUR },
    },
    {
      rule: "the controller looks again as the clock is steady",
      from: "at rest",
      change: { steadyFrom: NOW + 1 },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "the controller looks again as soon as an old version can have been unused for as long as declared",
      from: "adopted",
      change: { usage: { lastUses: { 1: { at: NOW - 8 * MINUTE } } } },
      outcome: { ...NOTHING, requeueAt: NOW + 2 * MINUTE },
    },
    {
      rule: "the controller looks again 30 s after an old version ended in use: by then replicas have written its last uses",
      from: "rotated",
      change: { stored: { versions: { 1: { state: "retired", retireAt: NOW, lastUsedAt: NOW - 10 * MINUTE } } } },
      outcome: { ...NOTHING, requeueAt: NOW + 30 * SECOND },
    },
    {
      rule: "the controller looks again where a use that replicas have yet to write may have been within ten minutes of the end",
      from: "rotated",
      change: {
        stored: {
          versions: { 1: { state: "retired", retireAt: NOW, lastUsedAt: NOW - 10 * MINUTE - 30 * SECOND + 1 } },
        },
      },
      outcome: { ...NOTHING, requeueAt: NOW + 30 * SECOND },
    },
    {
      rule: "the controller does not look again where no such use is possible",
      from: "rotated",
      change: {
        stored: { versions: { 1: { state: "retired", retireAt: NOW, lastUsedAt: NOW - 10 * MINUTE - 30 * SECOND } } },
      },
      outcome: { ...NOTHING, requeueAt: NEVER },
    },
    {
      rule: "the controller does not look again after a version that ended before its deadline",
      from: "rotated",
      change: { stored: { versions: { 1: { state: "retired", retireAt: null, lastUsedAt: NOW } } } },
      outcome: { ...NOTHING, requeueAt: NEVER },
    },
    {
      rule: "the controller does not look again after a version that was never used",
      from: "rotated",
      change: { stored: { versions: { 1: { state: "retired", retireAt: NOW, lastUsedAt: null } } } },
      outcome: { ...NOTHING, requeueAt: NEVER },
    },
  ],
};
