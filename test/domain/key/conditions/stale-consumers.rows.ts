/** Who uses an old version, as the condition StaleConsumers says it. */
import type { StatedCondition } from "../../../../domain/conditions.ts";
import { DAY, HOUR, MINUTE, NOW, type RuleSet, SECOND } from "../../rule-table.ts";
import { like, retiring, SITUATIONS, type Situation, version, versions } from "../situations.ts";

/** The condition, which old version it names, and that version's last use. */
type ExpectedCondition = Pick<StatedCondition, "reason"> &
  Partial<Pick<StatedCondition, "status" | "message">> & { readonly version?: number; readonly at?: number };

const NONE = { reason: "NoStaleConsumers" } as const;
const IN_USE = { reason: "OldVersionInUse" } as const;
const ENDED_IN_USE = { reason: "EndedInUse" } as const;

const agent = { address: "192.0.2.7", userAgent: "agent/1" };
const inUse = like(
  SITUATIONS.adopted,
  "An overlap by adoption (at least 1 h, at most 26 h, 10 min unused). Version 2 has been active for two hours; version 1, which was used a minute ago, goes on for a day.",
  { usage: { lastUses: { 1: { at: NOW - MINUTE, ...agent } } } },
);
const twoOld = like(
  inUse,
  "As *in use*, with version 3 active; versions 1 and 2 go on for a day, and 2 was used a minute ago.",
  {
    stored: {
      versions: versions(
        version(3, { activatedAt: NOW - 2 * HOUR }),
        retiring(2, DAY, { activatedAt: NOW - 3 * HOUR }),
        retiring(1, DAY),
      ),
    },
    usage: {
      now: NOW,
      knownUntil: NOW,
      lostUntil: null,
      lastUses: { 1: { at: NOW - HOUR }, 2: { at: NOW - MINUTE, ...agent } },
    },
  },
);
const ended = like(
  SITUATIONS.rotated,
  "A fixed overlap: version 2 is active, and version 1, which ended an hour ago, was last used 1 s before.",
  {
    stored: { versions: { 1: { state: "retired", retireAt: NOW - HOUR, lastUsedAt: NOW - HOUR - SECOND } } },
    usage: { now: NOW, knownUntil: NOW, lostUntil: null, lastUses: { 1: { at: NOW - HOUR - SECOND, ...agent } } },
  },
);
const endedBefore = like(
  ended,
  "As *ended in use*, with version 3 active; version 2, which was not used, ended at the same moment as version 1.",
  { stored: { versions: versions(version(3), version(2, { state: "retired", retireAt: NOW - HOUR })) } },
);

const BASES = {
  "in use": inUse,
  "two in use": twoOld,
  "ended in use": ended,
  "ended in use before": endedBefore,
} as const;

export const STALE_RULES: RuleSet<keyof typeof BASES, Situation, ExpectedCondition> = {
  title: "Who still uses an old version",
  bases: BASES,
  tables: [
    {
      decision: "An old version that holds up its overlap",
      says: "`StaleConsumers` names the oldest version that goes on beyond the shortest overlap since it is in use.",
      source: "domain/key/conditions/stale-consumers.ts",
      rows: [
        {
          rule: "the condition says which version is used, when, from where and until when it works",
          from: "in use",
          change: {},
          outcome: {
            ...IN_USE,
            status: "True",
            message:
              'Version 1 (inf_AbCdEfGh...) is used, last at 2026-11-20T11:59:00Z from 192.0.2.7 with User-Agent "agent/1". It ends at 2026-11-21T12:00:00Z. Have that consumer read the Secret again before then.',
          },
        },
        {
          rule: "the condition says so where the client is not known",
          from: "in use",
          change: { usage: { lastUses: { 1: { address: null, userAgent: null } } } },
          outcome: {
            ...IN_USE,
            message:
              "Version 1 (inf_AbCdEfGh...) is used, last at 2026-11-20T11:59:00Z from an unknown address with no known User-Agent. It ends at 2026-11-21T12:00:00Z. Have that consumer read the Secret again before then.",
          },
        },
        {
          rule: "the condition is False while no use is known",
          from: "in use",
          change: { usage: null },
          outcome: { ...NONE, status: "False", message: "No consumer is known to use an old version." },
        },
        {
          rule: "a use counts once the shortest overlap is over",
          from: "in use",
          change: { stored: { versions: { 2: { activatedAt: NOW - HOUR } } } },
          outcome: IN_USE,
        },
        {
          rule: "a use does not count within the shortest overlap",
          from: "in use",
          change: { stored: { versions: { 2: { activatedAt: NOW - HOUR + 1 } } } },
          outcome: NONE,
        },
        {
          rule: "a use within the last ten minutes counts",
          from: "in use",
          change: { usage: { lastUses: { 1: { at: NOW - 10 * MINUTE + 1 } } } },
          outcome: IN_USE,
        },
        {
          rule: "a use ten minutes ago does not count",
          from: "in use",
          change: { usage: { lastUses: { 1: { at: NOW - 10 * MINUTE } } } },
          outcome: NONE,
        },
        {
          rule: "these minutes pass by the clock of the database",
          from: "in use",
          change: { usage: { now: NOW + 9 * MINUTE } },
          outcome: NONE,
        },
        {
          rule: "a use does not count with a fixed overlap, which ends all the same",
          from: "in use",
          change: { declared: { overlap: { mode: "Fixed", duration: DAY } } },
          outcome: NONE,
        },
        {
          rule: "a use of a revoked key does not count",
          from: "in use",
          change: { stored: { state: "revoked" } },
          outcome: NONE,
        },
        {
          rule: "of two old versions the condition names the one that is used",
          from: "two in use",
          change: {},
          outcome: { ...IN_USE, version: 2 },
        },
        {
          rule: "of two old versions that are used the condition names the older",
          from: "two in use",
          change: { usage: { lastUses: { 1: { at: NOW - MINUTE } } } },
          outcome: { ...IN_USE, version: 1 },
        },
        {
          rule: "a version that is in use comes before one that ended in use",
          from: "two in use",
          change: { stored: { versions: { 1: { state: "retired", retireAt: NOW, lastUsedAt: NOW } } } },
          outcome: { ...IN_USE, version: 2 },
        },
        {
          rule: "the condition keeps the use that it names for ten minutes",
          from: "in use",
          change: { reportedUse: { version: 1, at: NOW - 11 * MINUTE + 1, address: "::1", userAgent: null } },
          outcome: { ...IN_USE, at: NOW - 11 * MINUTE + 1 },
        },
        {
          rule: "the condition names a use that is ten minutes later",
          from: "in use",
          change: { reportedUse: { version: 1, at: NOW - 11 * MINUTE, address: "::1", userAgent: null } },
          outcome: { ...IN_USE, at: NOW - MINUTE },
        },
        {
          rule: "the condition names a use that is ten minutes earlier: the database was put back",
          from: "in use",
          change: { reportedUse: { version: 1, at: NOW + 9 * MINUTE, address: "::1", userAgent: null } },
          outcome: { ...IN_USE, at: NOW - MINUTE },
        },
        {
          rule: "the condition does not keep a use of another version",
          from: "in use",
          change: { reportedUse: { version: 2, at: NOW - MINUTE - 1, address: "::1", userAgent: null } },
          outcome: { ...IN_USE, at: NOW - MINUTE },
        },
      ],
    },
    {
      decision: "An old version that ended in use",
      says: "`StaleConsumers` names the version until one after it has ended in its turn.",
      source: "domain/key/conditions/stale-consumers.ts",
      rows: [
        {
          rule: "the condition says which version ended, and who used it last",
          from: "ended in use",
          change: {},
          outcome: {
            ...ENDED_IN_USE,
            status: "True",
            message:
              'Version 1 (inf_AbCdEfGh...) was used until it ended at 2026-11-20T11:00:00Z, last at 2026-11-20T10:59:59Z from 192.0.2.7 with User-Agent "agent/1". Have that consumer read the Secret again: what it holds is refused.',
          },
        },
        {
          rule: "the condition says so where the client is not known",
          from: "ended in use",
          change: { usage: null },
          outcome: {
            ...ENDED_IN_USE,
            message:
              "Version 1 (inf_AbCdEfGh...) was used until it ended at 2026-11-20T11:00:00Z, last at 2026-11-20T10:59:59Z from an unknown address with no known User-Agent. Have that consumer read the Secret again: what it holds is refused.",
          },
        },
        {
          rule: "a use within ten minutes of the end counts",
          from: "ended in use",
          change: { stored: { versions: { 1: { lastUsedAt: NOW - HOUR - 10 * MINUTE + 1 } } } },
          outcome: ENDED_IN_USE,
        },
        {
          rule: "a use ten minutes before the end does not count",
          from: "ended in use",
          change: { stored: { versions: { 1: { lastUsedAt: NOW - HOUR - 10 * MINUTE } } } },
          outcome: NONE,
        },
        {
          rule: "by adoption a use within the declared time counts",
          from: "ended in use",
          change: { declared: { overlap: { mode: "Adoption", min: 0, max: DAY, quiet: SECOND + 1 } } },
          outcome: ENDED_IN_USE,
        },
        {
          rule: "by adoption a use before that does not count",
          from: "ended in use",
          change: { declared: { overlap: { mode: "Adoption", min: 0, max: DAY, quiet: SECOND } } },
          outcome: NONE,
        },
        {
          rule: "a version that was never used did not end in use",
          from: "ended in use",
          change: { stored: { versions: { 1: { lastUsedAt: null } } } },
          outcome: NONE,
        },
        {
          rule: "a version that a person ended did not end in use",
          from: "ended in use",
          change: { stored: { versions: { 1: { retireAt: null } } } },
          outcome: NONE,
        },
        {
          rule: "a version of a revoked key did not end in use",
          from: "ended in use",
          change: { stored: { state: "revoked" } },
          outcome: NONE,
        },
        {
          rule: "a later version that ended at the same moment ends what the condition says",
          from: "ended in use before",
          change: {},
          outcome: NONE,
        },
        {
          rule: "a later version that ended sooner does not",
          from: "ended in use before",
          change: { stored: { versions: { 2: { retireAt: NOW - HOUR - 1 } } } },
          outcome: ENDED_IN_USE,
        },
        {
          rule: "a later version that a person ended does",
          from: "ended in use before",
          change: { stored: { versions: { 2: { retireAt: null } } } },
          outcome: NONE,
        },
        {
          rule: "a later version that goes on does not",
          from: "ended in use before",
          change: { stored: { versions: { 2: { state: "retiring", retireAt: NOW + DAY } } } },
          outcome: ENDED_IN_USE,
        },
      ],
    },
  ],
};
