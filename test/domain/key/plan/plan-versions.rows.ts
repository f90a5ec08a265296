/** What the versions of a key and its Secret want, once its policy is as declared. */
import { DAY, MINUTE, NOW, SECOND } from "../../rule-table.ts";
import { type KeyTable, NOTHING } from "../situations.ts";

const source = "domain/key/plan/plan-versions.ts";

export const VERSIONS: KeyTable = {
  decision: "Versions that begin and end",
  says: "Old versions end at their deadline; a version becomes the active one once it is in the Secret; then the controller mints, and last it sees to the rest of the Secret.",
  source,
  rows: [
    {
      rule: "an old version works before its deadline",
      from: "overdue",
      change: { stored: { versions: { 1: { retireAt: NOW + 1 } } } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "an old version ends at its deadline",
      from: "rotated",
      change: { stored: { versions: { 1: { retireAt: NOW } } } },
      outcome: { do: "Retire" },
    },
    {
      rule: "an old version works before its own end",
      from: "rotated before its end",
      change: {},
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "an old version ends at its own end, before its deadline",
      from: "rotated before its end",
      change: { stored: { versions: { 1: { mintedAt: NOW - 10 * DAY, expiresAt: NOW } } } },
      outcome: { do: "Retire" },
    },
    {
      rule: "an old version ends once the clock is steady again",
      from: "overdue",
      change: { steadyFrom: NOW },
      outcome: { do: "Retire" },
    },
    {
      rule: "an old version does not end while the clock may be set back",
      from: "overdue",
      change: { steadyFrom: NOW + 1 },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "an old version ends before the next one is minted",
      from: "overdue",
      change: { declared: { rotationTrigger: "next" } },
      outcome: { do: "Retire" },
    },
    {
      rule: "an old version ends before the next one is activated",
      from: "overdue",
      change: {
        stored: { versions: { 3: { state: "reserved", mayBeRead: true, activatedAt: null } } },
        secret: { holds: 3 },
      },
      outcome: { do: "Retire" },
    },
    {
      rule: "the version in the Secret becomes the active one, and the one before goes on for the overlap",
      from: "delivered",
      change: {},
      outcome: { do: "Activate", number: 2, retireOldAt: NOW + DAY },
    },
    {
      rule: "the version in the Secret becomes the active one where the declaration asks for the rotation no more",
      from: "delivered",
      change: { declared: { rotationTrigger: null } },
      outcome: { do: "Activate", number: 2 },
    },
    {
      rule: "the version in the Secret becomes the active one where nothing could be minted",
      from: "delivered",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: { do: "Activate", number: 2 },
    },
    {
      rule: "the version in the Secret becomes the active one while replicas have yet to acknowledge a change",
      from: "delivered",
      change: { confirmed: false },
      outcome: { do: "Activate", number: 2 },
    },
    {
      rule: "the version in the Secret becomes the active one while the clock may be set back",
      from: "delivered",
      change: { steadyFrom: NOW + 1 },
      outcome: { do: "Activate", number: 2 },
    },
    {
      rule: "an old version that its clients have left ends before its deadline",
      from: "adopted",
      change: {},
      outcome: { do: "RetireAdopted", number: 1 },
    },
    {
      rule: "an old version that its clients have left goes on while the clock may be set back",
      from: "adopted",
      change: { steadyFrom: NOW + 1 },
      outcome: NOTHING,
    },
    {
      rule: "an old version goes on before it has been unused for as long as declared",
      from: "adopted",
      change: { usage: { lastUses: { 1: { at: NOW - 10 * MINUTE + 1 } } } },
      outcome: NOTHING,
    },
    {
      rule: "the next version becomes the active one before an old one that its clients have left ends",
      from: "adopted",
      change: {
        stored: { versions: { 3: { state: "reserved", mayBeRead: true, activatedAt: null } } },
        secret: { holds: 3 },
      },
      outcome: { do: "Activate", number: 3 },
    },
    {
      rule: "an old version that its clients have left ends before the next one is minted",
      from: "adopted",
      change: { declared: { rotationTrigger: "next" } },
      outcome: { do: "RetireAdopted", number: 1 },
    },
    {
      rule: "the controller reserves the version that is wanted",
      from: "to rotate",
      change: {},
      outcome: {
        do: "Reserve",
        number: 2,
        newKey: false,
        why: "TriggerChanged",
        supersedes: null,
        policy: { displayName: "key" },
      },
    },
    {
      rule: "a version has the number after the highest that was ever reserved",
      from: "to rotate",
      change: { stored: { lastNumber: 7 } },
      outcome: { do: "Reserve", number: 8 },
    },
    {
      rule: "the controller writes the version that it has reserved into the Secret",
      from: "reserved",
      change: {},
      outcome: { do: "Publish", number: 2 },
    },
    {
      rule: "the controller writes no version into the Secret before each replica accepts it",
      from: "reserved",
      change: { confirmed: false },
      outcome: { do: "Wait" },
    },
    {
      rule: "the controller writes no version into the Secret while nothing may be minted",
      from: "reserved",
      change: { references: { missing: ["There is no gateway."] } },
      outcome: NOTHING,
    },
    {
      rule: "the controller writes no version into the Secret that nothing asks for any more",
      from: "reserved",
      change: { declared: { rotationTrigger: null } },
      outcome: NOTHING,
    },
    {
      rule: "c69: the controller writes a version again a minute after something else changed it as it was written",
      from: "altered reservation",
      change: {},
      outcome: { do: "Publish", number: 2 },
    },
    {
      rule: "c69: the controller does not write a version again before that minute is over",
      from: "altered reservation",
      change: { altered: { writtenAt: NOW - MINUTE + 1 } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "c69: the controller writes another version than the one that was changed at once",
      from: "altered reservation",
      change: { altered: { version: 1, writtenAt: NOW } },
      outcome: { do: "Publish", number: 2 },
    },
  ],
};

export const SECRET: KeyTable = {
  decision: "The rest of the Secret, and restarts",
  says: "Where the Secret holds the active version and no other is wanted, the controller sees to its labels, its other data and its owner, and then to the workloads.",
  source,
  rows: [
    {
      rule: "the controller writes a Secret that is not as declared again",
      from: "to render",
      change: {},
      outcome: { do: "Render" },
    },
    {
      rule: "c110: the controller takes its owner reference off the Secret of a key that is retained or protected, also where that is immutable",
      from: "to render",
      change: { declared: { retainOnDelete: true }, secret: { immutable: true } },
      outcome: { do: "Render" },
    },
    {
      rule: "c110: and also while its next version waits",
      from: "to render",
      change: {
        declared: { retainOnDelete: true, rotationTrigger: "next" },
        references: { missing: ["There is no gateway."] },
      },
      outcome: { do: "Render" },
    },
    {
      rule: "a Secret that goes with its key waits for the next version",
      from: "to render",
      change: { declared: { rotationTrigger: "next" }, references: { missing: ["There is no gateway."] } },
      outcome: NOTHING,
    },
    {
      rule: "c110: and also in a namespace that no team claims any more",
      from: "to render",
      change: { declared: { deletionProtection: true }, references: { teamId: null } },
      outcome: { do: "Render" },
    },
    {
      rule: "b456: a Secret keeps what leads to a gateway that is missing",
      from: "to render",
      change: {
        references: { gatewayId: "", missing: ["There is no gateway."] },
        stored: { policy: { boundGatewayId: "" } },
      },
      outcome: NOTHING,
    },
    {
      rule: "the controller writes a Secret again where something else than the gateway is missing",
      from: "to render",
      change: { references: { missing: ["There is no library."] } },
      outcome: { do: "Render" },
    },
    {
      rule: "an immutable Secret that is not as declared otherwise is left",
      from: "to render",
      change: { secret: { immutable: true } },
      outcome: NOTHING,
    },
    {
      rule: "the controller writes the Secret of a suspended key again",
      from: "suspended",
      change: { secret: { rendered: false } },
      outcome: { do: "Render" },
    },
    {
      rule: "the controller leaves an immutable Secret",
      from: "to render",
      change: { secret: { immutable: true } },
      outcome: NOTHING,
    },
    {
      rule: "the controller leaves a Secret that holds an old version, and is only reported",
      from: "reported",
      change: { secret: { holds: 1, rendered: false } },
      outcome: NOTHING,
    },
    {
      rule: "the controller leaves a Secret that holds an unknown value, and is only reported",
      from: "reported",
      change: { secret: { holds: "unknown", rendered: false } },
      outcome: NOTHING,
    },
    {
      rule: "the controller leaves a Secret that is not the key's",
      from: "to render",
      change: { secret: { state: "unmanaged" } },
      outcome: NOTHING,
    },
    {
      rule: "c58: the controller leaves a Secret that it may not read, which it tries every 30 s",
      from: "at rest",
      change: { secret: { state: "unreadable", why: "no Role" } },
      outcome: { ...NOTHING, requeueAt: NOW + 30 * SECOND },
    },
    {
      rule: "c69: the controller writes a Secret again a minute after something else changed it as it was written",
      from: "altered",
      change: {},
      outcome: { do: "Render" },
    },
    {
      rule: "c69: the controller leaves the Secret before that minute is over",
      from: "altered",
      change: { altered: { writtenAt: NOW - MINUTE + 1 } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "c69: the controller writes a Secret again 30 s after it put right what something else had changed",
      from: "altered",
      change: { altered: { isShownInAnswer: false, writtenAt: NOW - 30 * SECOND } },
      outcome: { do: "Render" },
    },
    {
      rule: "c69: the controller leaves the Secret before those 30 s are over",
      from: "altered",
      change: { altered: { isShownInAnswer: false, writtenAt: NOW - 30 * SECOND + 1 } },
      outcome: { ...NOTHING, requeueAt: NOW + 1 },
    },
    {
      rule: "c69: the controller writes a Secret again at once where something else changed another version",
      from: "altered",
      change: { altered: { version: 2, writtenAt: NOW } },
      outcome: { do: "Render" },
    },
    {
      rule: "the controller restarts what the declaration names",
      from: "to restart",
      change: {},
      outcome: { do: "Restart", version: 1 },
    },
    {
      rule: "the controller restarts workloads once for each version",
      from: "to restart",
      change: { restartedVersion: 1 },
      outcome: NOTHING,
    },
    {
      rule: "the controller restarts workloads that it restarted for another version",
      from: "to restart",
      change: { restartedVersion: 2 },
      outcome: { do: "Restart", version: 1 },
    },
    {
      rule: "the controller restarts no workload before the Secret is as declared",
      from: "to restart",
      change: { secret: { rendered: false } },
      outcome: { do: "Render" },
    },
    {
      rule: "the controller restarts workloads where an immutable Secret is not as declared",
      from: "to restart",
      change: { secret: { rendered: false, immutable: true } },
      outcome: { do: "Restart", version: 1 },
    },
  ],
};
