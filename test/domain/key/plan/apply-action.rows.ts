/** What is stored of a key after an action, each rule as one change of the key or of the action. */
import type { DeclaredKey } from "../../../../domain/key/declaration/declared-key.ts";
import type { KeyAction } from "../../../../domain/key/plan/key-action.ts";
import type { StoredVersion } from "../../../../domain/key/stored/stored-key.ts";
import { type Change, DAY, HOUR, MINUTE, NOW, type RuleSet, SECOND } from "../../rule-table.ts";
import { KEY, type KeySituation, reserved, retiring, version, versions } from "../situations.ts";

/** What writes to a key: a step of its plan, or a rotation that a person asks for. */
type Write = KeyAction | { readonly do: "RequestRotation"; readonly revokeOld: boolean };

export type Written = {
  readonly stored: KeySituation | undefined;
  readonly action: Write;
  readonly generation: number;
  readonly declared: Pick<DeclaredKey, "source" | "expiresAfter" | "rotationTrigger">;
  readonly secret: Pick<StoredVersion, "digest" | "prefix">;
  readonly undoneSince: number | null;
  /** The key that is taken over. */
  readonly taken?: KeySituation;
};

/** What is different of the key then: nothing else is. Of a key that was not there: what it has. */
type Outcome = "unchanged" | "no key" | { readonly refused: string } | Change<KeySituation>;

const UNCHANGED = "unchanged";

const CONTEXT = {
  generation: 1,
  declared: { source: { type: "Generate" }, expiresAfter: null, rotationTrigger: "next" },
  secret: { digest: "digest 2", prefix: "inf_AbCdEfGh" },
  undoneSince: null,
} as const;
const reserve = {
  do: "Reserve",
  number: 2,
  newKey: false,
  policy: KEY.policy,
  why: "TriggerChanged",
  supersedes: null,
} as const;
const holding = (...list: readonly StoredVersion[]): KeySituation => ({ ...KEY, versions: versions(...list) });
const REVOKED = { state: "revoked", revocation: { reason: "Moved", at: NOW - DAY, seq: 7 } } as const;

const BASES = {
  "no key": {
    is: "There is no key, and a first version is to be reserved.",
    state: { ...CONTEXT, stored: undefined, action: { ...reserve, number: 1, newKey: true, why: "FirstVersion" } },
  },
  "a new team": {
    is: "As *no key*, and there is a key that was revoked since its namespace moved.",
    state: {
      ...CONTEXT,
      stored: { ...KEY, ...REVOKED },
      action: { ...reserve, number: 1, newKey: true, why: "FirstVersion" },
    },
  },
  "an import": {
    is: "There is no key, and a secret from elsewhere is to be its first version.",
    state: {
      ...CONTEXT,
      declared: { ...CONTEXT.declared, source: { type: "ImportHash" } },
      stored: undefined,
      action: { do: "Import", policy: KEY.policy, digest: "digest 1", prefix: "inf_Imported" },
    },
  },
  "a take-over": {
    is: "A declaration is to take over a key that a person made, which has versions 1 and 2.",
    state: {
      ...CONTEXT,
      generation: 3,
      stored: undefined,
      action: { do: "TakeOver", keyId: "key_made" },
      taken: {
        ...holding(version(2), retiring(1, DAY)),
        ...{ id: "key_made", cluster: "api", namespace: "", name: "made", ownerUid: null, generation: 0 },
      },
    },
  },
  "a reservation": {
    is: "Version 1 is active, and version 2 is to be reserved.",
    state: { ...CONTEXT, stored: KEY, action: reserve },
  },
  "a full reservation": {
    is: "Versions 1 to 4 are reserved, and version 5 is to be, for which 1 makes way: it is to go on for a day.",
    state: {
      ...CONTEXT,
      stored: { ...holding(reserved(4), reserved(3), reserved(2), reserved(1, { mayBeRead: true })), lastNumber: 4 },
      action: { ...reserve, number: 5, supersedes: { number: 1, endsAt: NOW + DAY } },
    },
  },
  "a crowded reservation": {
    is: "As *a full reservation* of versions 5 to 8, and versions 1 to 4 go on for one, two, three and four hours.",
    state: {
      ...CONTEXT,
      stored: {
        ...holding(
          ...[8, 7, 6].map((number) => reserved(number)),
          reserved(5, { mayBeRead: true }),
          ...[4, 3, 2, 1].map((number) => retiring(number, number * HOUR)),
        ),
        lastNumber: 8,
      },
      action: { ...reserve, number: 9, supersedes: { number: 5, endsAt: NOW + DAY } },
    },
  },
  "a publication": {
    is: "Version 2 is reserved, version 1 active, and the Secret is to be written.",
    state: { ...CONTEXT, stored: holding(reserved(2), version(1)), action: { do: "Publish", number: 2 } },
  },
  "an activation": {
    is: "Version 2 is reserved and in the Secret; version 1 is active, and is to go on for a day.",
    state: {
      ...CONTEXT,
      stored: holding(reserved(2, { mayBeRead: true }), version(1)),
      action: { do: "Activate", number: 2, retireOldAt: NOW + DAY },
    },
  },
  "a crowded activation": {
    is: "Version 6 is reserved and in the Secret, version 5 is active, and versions 1 to 4 go on for one, two, three and four hours.",
    state: {
      ...CONTEXT,
      stored: holding(
        reserved(6, { mayBeRead: true }),
        version(5),
        ...[4, 3, 2, 1].map((number) => retiring(number, number * HOUR)),
      ),
      action: { do: "Activate", number: 6, retireOldAt: NOW + DAY },
    },
  },
  "a policy": {
    is: "Version 3 is active, 2 goes on for a day, 1 has ended, and another display name is declared.",
    state: {
      ...CONTEXT,
      stored: holding(version(3), retiring(2, DAY), version(1, { state: "retired" })),
      action: { do: "UpdatePolicy", generation: 2, policy: { ...KEY.policy, displayName: "new" }, expiresAfter: null },
    },
  },
  "a deadline": {
    is: "Version 2 is active, and version 1 has reached its deadline a moment ago.",
    state: { ...CONTEXT, stored: holding(version(2), retiring(1, -1)), action: { do: "Retire" } },
  },
  "an adoption": {
    is: "Version 2 is active, and version 1, which was to go on for a day, has been left by its clients.",
    state: { ...CONTEXT, stored: holding(version(2), retiring(1, DAY)), action: { do: "RetireAdopted", number: 1 } },
  },
  "a revocation": {
    is: "Version 4 is reserved, 3 active, 2 goes on for a day, 1 has ended, and the key is to be revoked.",
    state: {
      ...CONTEXT,
      stored: holding(reserved(4), version(3), retiring(2, DAY), version(1, { state: "retired" })),
      action: { do: "Revoke", reason: "Deleted" },
    },
  },
  "a release": {
    is: "Version 3 is reserved, version 2 is reserved and may have been read, 1 is active, and the key is to lose its declaration.",
    state: {
      ...CONTEXT,
      stored: holding(reserved(3), reserved(2, { mayBeRead: true }), version(1)),
      action: { do: "Release" },
    },
  },
  "a request": {
    is: "Version 1 is active, and a person asks for a rotation.",
    state: { ...CONTEXT, stored: KEY, action: { do: "RequestRotation", revokeOld: false } },
  },
  "a render": {
    is: "Version 1 is active, and the Secret is to be written again.",
    state: { ...CONTEXT, stored: KEY, action: { do: "Render" } },
  },
} as const satisfies Record<string, { is: string; state: Written }>;

const source = "domain/key/plan/apply-action.ts";

export const WRITE_RULES: RuleSet<keyof typeof BASES, Written, Outcome> = {
  title: "What the store has of a key after an action",
  bases: BASES,
  tables: [
    {
      decision: "Reserve",
      says: "Stores the digest of a version before its Secret is written. The same secret again changes nothing.",
      source,
      rows: [
        {
          rule: "a new key has the declaration's source and policy, and a reserved version",
          from: "no key",
          change: {},
          outcome: {
            id: "key_2",
            ownerUid: "uid-1",
            source: "Generate",
            state: "active",
            policy: { displayName: "key", scopes: ["memory:read", "memory:write"], suspended: false },
            generation: 1,
            revocation: null,
            rotationRequest: null,
            lastNumber: 1,
            versions: {
              1: {
                state: "reserved",
                digest: "digest 2",
                mayBeRead: false,
                imported: false,
                mintedAt: NOW,
                activatedAt: null,
                expiresAt: null,
                rotationTrigger: "next",
                heals: null,
              },
            },
          },
        },
        {
          rule: "a new key may be suspended",
          from: "no key",
          change: { action: { policy: { suspended: true } } },
          outcome: { state: "suspended", policy: { suspended: true } },
        },
        {
          rule: "a new key takes the place of one that was revoked since its namespace moved",
          from: "a new team",
          change: {},
          outcome: {
            id: "key_2",
            createdAt: NOW,
            state: "active",
            revocation: null,
            versions: {
              1: {
                state: "reserved",
                digest: "digest 2",
                mayBeRead: false,
                mintedAt: NOW,
                activatedAt: null,
                rotationTrigger: "next",
              },
            },
          },
        },
        {
          rule: "a reserved version comes beside the active one",
          from: "a reservation",
          change: {},
          outcome: {
            lastNumber: 2,
            versions: {
              2: {
                state: "reserved",
                digest: "digest 2",
                mayBeRead: false,
                imported: false,
                mintedAt: NOW,
                activatedAt: null,
                retireAt: null,
                expiresAt: null,
                rotationTrigger: "next",
                heals: null,
              },
            },
          },
        },
        {
          rule: "a version has the declared lifetime",
          from: "a reservation",
          change: { declared: { expiresAfter: HOUR } },
          outcome: { lastNumber: 2, versions: { 2: { expiresAt: NOW + HOUR } } },
        },
        {
          rule: "a version is not minted before the request that it fulfils",
          from: "a reservation",
          change: { stored: { rotationRequest: { at: NOW + 1, revokeOld: false } }, declared: { expiresAfter: HOUR } },
          outcome: { lastNumber: 2, versions: { 2: { mintedAt: NOW + 1, expiresAt: NOW + 1 + HOUR } } },
        },
        {
          rule: "a version that heals a Secret says why",
          from: "a reservation",
          change: { action: { why: "SecretLost" } },
          outcome: { lastNumber: 2, versions: { 2: { heals: { reason: "SecretLost", at: NOW } } } },
        },
        {
          rule: "a version that heals a Secret says since when that was lost or edited",
          from: "a reservation",
          change: { action: { why: "SecretTampered" }, undoneSince: NOW - SECOND },
          outcome: { lastNumber: 2, versions: { 2: { heals: { reason: "SecretTampered", at: NOW - SECOND } } } },
        },
        {
          rule: "the highest number stays the highest",
          from: "a reservation",
          change: { stored: { lastNumber: 7 } },
          outcome: { lastNumber: 7, versions: { 2: { state: "reserved" } } },
        },
        {
          rule: "the store refuses a version of a revoked key",
          from: "a reservation",
          change: { stored: REVOKED },
          outcome: { refused: "the key is revoked" },
        },
        {
          rule: "the store refuses a version by an older generation",
          from: "a reservation",
          change: { generation: 0 },
          outcome: { refused: "a later generation has been applied" },
        },
        {
          rule: "the same secret again changes nothing",
          from: "a reservation",
          change: { action: { number: 1 }, secret: { digest: "digest 1" } },
          outcome: UNCHANGED,
        },
        {
          rule: "the store refuses another secret by the same number",
          from: "a reservation",
          change: { action: { number: 1 } },
          outcome: { refused: "version 1 belongs to another secret" },
        },
        {
          rule: "the store refuses the same secret of a version that has ended",
          from: "a reservation",
          change: {
            stored: { versions: { 1: { state: "retired" } } },
            action: { number: 1 },
            secret: { digest: "digest 1" },
          },
          outcome: { refused: "version 1 has ended" },
        },
        {
          rule: "a reservation that makes way begins its overlap",
          from: "a full reservation",
          change: {},
          outcome: {
            lastNumber: 5,
            versions: { 1: { state: "retiring", retireAt: NOW + DAY }, 5: { state: "reserved" } },
          },
        },
        {
          rule: "a reservation whose overlap is 1 ms long begins it",
          from: "a full reservation",
          change: { action: { supersedes: { endsAt: NOW + 1 } } },
          outcome: {
            lastNumber: 5,
            versions: { 1: { state: "retiring", retireAt: NOW + 1 }, 5: { state: "reserved" } },
          },
        },
        {
          rule: "a reservation whose overlap is over as it begins is voided",
          from: "a full reservation",
          change: { action: { supersedes: { endsAt: NOW } } },
          outcome: { lastNumber: 5, versions: { 1: { state: "voided" }, 5: { state: "reserved" } } },
        },
        {
          rule: "a version that is no reservation any more makes no way",
          from: "a full reservation",
          change: { stored: { versions: { 1: { state: "active" } } } },
          outcome: { lastNumber: 5, versions: { 5: { state: "reserved" } } },
        },
        {
          rule: "the store refuses a fifth old version",
          from: "a crowded reservation",
          change: {},
          outcome: { refused: "there is no room for another old version" },
        },
        {
          rule: "an old version at its deadline makes room",
          from: "a crowded reservation",
          change: { stored: { versions: { 1: { retireAt: NOW } } } },
          outcome: {
            lastNumber: 9,
            versions: {
              1: { state: "retired" },
              5: { state: "retiring", retireAt: NOW + DAY },
              9: { state: "reserved" },
            },
          },
        },
        {
          rule: "a reservation that is voided needs no room",
          from: "a crowded reservation",
          change: { action: { supersedes: { endsAt: NOW } } },
          outcome: { lastNumber: 9, versions: { 5: { state: "voided" }, 9: { state: "reserved" } } },
        },
        {
          rule: "what makes no way needs no room",
          from: "a crowded reservation",
          change: { stored: { versions: { 5: { state: "voided" } } } },
          outcome: { lastNumber: 9, versions: { 9: { state: "reserved" } } },
        },
      ],
    },
    {
      decision: "Import and TakeOver",
      says: "A secret from elsewhere is active at once, and no Secret of the controller's holds it.",
      source,
      rows: [
        {
          rule: "an imported secret is the active version of a new key",
          from: "an import",
          change: {},
          outcome: {
            source: "ImportHash",
            state: "active",
            lastNumber: 1,
            versions: {
              1: {
                state: "active",
                digest: "digest 1",
                prefix: "inf_Imported",
                imported: true,
                mintedAt: NOW,
                activatedAt: NOW,
                heals: null,
              },
            },
          },
        },
        {
          rule: "a taken key is the declaration's, with all of its versions",
          from: "a take-over",
          change: {},
          outcome: {
            id: "key_made",
            cluster: "cluster",
            namespace: "ns",
            name: "key",
            ownerUid: "uid-1",
            generation: 3,
            source: "Generate",
            versions: {
              1: { imported: true, rotationTrigger: "next", state: "retiring" },
              2: { imported: true, rotationTrigger: "next", state: "active" },
            },
          },
        },
      ],
    },
    {
      decision: "Publish",
      says: "Notes that workloads may read the version, right before its Secret is written.",
      source,
      rows: [
        {
          rule: "workloads may read the version from here on",
          from: "a publication",
          change: {},
          outcome: { versions: { 2: { mayBeRead: true } } },
        },
        {
          rule: "the store refuses a version that is active already",
          from: "a publication",
          change: { action: { number: 1 } },
          outcome: { refused: "version 1 is not a reserved one" },
        },
        {
          rule: "the store refuses a version that was voided",
          from: "a publication",
          change: { stored: { versions: { 2: { state: "voided" } } } },
          outcome: { refused: "version 2 is not a reserved one" },
        },
        {
          rule: "the store refuses a version that is not there",
          from: "a publication",
          change: { action: { number: 3 } },
          outcome: { refused: "version 3 is not a reserved one" },
        },
        {
          rule: "there is nothing to note without a key",
          from: "a publication",
          change: { stored: undefined },
          outcome: "no key",
        },
      ],
    },
    {
      decision: "Activate",
      says: "Makes the version the active one. What workloads may have read goes on for the overlap; what they cannot have read is voided.",
      source,
      rows: [
        {
          rule: "the version is active, and the one before goes on for the overlap",
          from: "an activation",
          change: {},
          outcome: {
            versions: { 1: { state: "retiring", retireAt: NOW + DAY }, 2: { state: "active", activatedAt: NOW } },
          },
        },
        {
          rule: "an overlap of 1 ms is one",
          from: "an activation",
          change: { action: { retireOldAt: NOW + 1 } },
          outcome: {
            versions: { 1: { state: "retiring", retireAt: NOW + 1 }, 2: { state: "active", activatedAt: NOW } },
          },
        },
        {
          rule: "the version before ends at once without an overlap",
          from: "an activation",
          change: { action: { retireOldAt: NOW } },
          outcome: { versions: { 1: { state: "retired", retireAt: null }, 2: { state: "active", activatedAt: NOW } } },
        },
        {
          rule: "a reservation that no workload can have read is voided",
          from: "an activation",
          change: { stored: { versions: { 1: { state: "reserved", mayBeRead: false, activatedAt: null } } } },
          outcome: { versions: { 1: { state: "voided" }, 2: { state: "active", activatedAt: NOW } } },
        },
        {
          rule: "a reservation that no workload can have read is voided without an overlap, too",
          from: "an activation",
          change: {
            stored: { versions: { 1: { state: "reserved", mayBeRead: false, activatedAt: null } } },
            action: { retireOldAt: NOW },
          },
          outcome: { versions: { 1: { state: "voided" }, 2: { state: "active", activatedAt: NOW } } },
        },
        {
          rule: "c66: a reservation that a workload may have read goes on for the overlap",
          from: "an activation",
          change: { stored: { versions: { 1: { state: "reserved", activatedAt: null } } } },
          outcome: {
            versions: { 1: { state: "retiring", retireAt: NOW + DAY }, 2: { state: "active", activatedAt: NOW } },
          },
        },
        {
          rule: "c66: a reservation that a workload may have read ends at once without an overlap",
          from: "an activation",
          change: {
            stored: { versions: { 1: { state: "reserved", activatedAt: null } } },
            action: { retireOldAt: NOW },
          },
          outcome: { versions: { 1: { state: "retired", retireAt: null }, 2: { state: "active", activatedAt: NOW } } },
        },
        {
          rule: "the version that is active already stays so, and keeps its time",
          from: "an activation",
          change: { action: { number: 1 } },
          outcome: UNCHANGED,
        },
        {
          rule: "the store refuses a version that was voided",
          from: "an activation",
          change: { stored: { versions: { 2: { state: "voided" } } } },
          outcome: { refused: "version 2 is not a reserved one" },
        },
        {
          rule: "the store refuses a version that is not there",
          from: "an activation",
          change: { action: { number: 3 } },
          outcome: { refused: "version 3 is not a reserved one" },
        },
        {
          rule: "the store refuses a version of a revoked key",
          from: "an activation",
          change: { stored: REVOKED },
          outcome: { refused: "the key is revoked" },
        },
        {
          rule: "a request of the moment of the mint is fulfilled",
          from: "an activation",
          change: { stored: { rotationRequest: { at: NOW - MINUTE, revokeOld: false } } },
          outcome: {
            rotationRequest: null,
            versions: { 1: { state: "retiring", retireAt: NOW + DAY }, 2: { state: "active", activatedAt: NOW } },
          },
        },
        {
          rule: "a later request stands",
          from: "an activation",
          change: { stored: { rotationRequest: { at: NOW - MINUTE + 1, revokeOld: false } } },
          outcome: {
            versions: { 1: { state: "retiring", retireAt: NOW + DAY }, 2: { state: "active", activatedAt: NOW } },
          },
        },
        {
          rule: "the store refuses a fifth old version",
          from: "a crowded activation",
          change: {},
          outcome: { refused: "there is no room for another old version" },
        },
        {
          rule: "a fourth old version finds room",
          from: "a crowded activation",
          change: { stored: { versions: { 1: { state: "retired" } } } },
          outcome: {
            versions: { 5: { state: "retiring", retireAt: NOW + DAY }, 6: { state: "active", activatedAt: NOW } },
          },
        },
        {
          rule: "an old version at its deadline makes room",
          from: "a crowded activation",
          change: { stored: { versions: { 1: { retireAt: NOW } } } },
          outcome: {
            versions: {
              1: { state: "retired" },
              5: { state: "retiring", retireAt: NOW + DAY },
              6: { state: "active", activatedAt: NOW },
            },
          },
        },
        {
          rule: "without an overlap every old version ends at once, and needs no room",
          from: "a crowded activation",
          change: { action: { retireOldAt: NOW } },
          outcome: {
            versions: {
              1: { state: "retired", retireAt: null },
              2: { state: "retired", retireAt: null },
              3: { state: "retired", retireAt: null },
              4: { state: "retired", retireAt: null },
              5: { state: "retired", retireAt: null },
              6: { state: "active", activatedAt: NOW },
            },
          },
        },
        {
          rule: "the store refuses two more old versions where there is room for one",
          from: "a crowded activation",
          change: { stored: { versions: { 1: { state: "reserved" } } } },
          outcome: { refused: "there is no room for another old version" },
        },
      ],
    },
    {
      decision: "UpdatePolicy",
      says: "Stores what is declared of the key, and by which generation.",
      source,
      rows: [
        {
          rule: "the key has the declared policy and generation",
          from: "a policy",
          change: {},
          outcome: { policy: { displayName: "new" }, generation: 2 },
        },
        {
          rule: "the same generation may say something else: what it refers to has changed",
          from: "a policy",
          change: { action: { generation: 1 } },
          outcome: { policy: { displayName: "new" } },
        },
        {
          rule: "the store refuses an older generation",
          from: "a policy",
          change: { action: { generation: 0 } },
          outcome: { refused: "a later generation has been applied" },
        },
        { rule: "a revoked key keeps its policy", from: "a policy", change: { stored: REVOKED }, outcome: UNCHANGED },
        {
          rule: "the key is suspended",
          from: "a policy",
          change: { action: { policy: { suspended: true } } },
          outcome: { policy: { displayName: "new", suspended: true }, generation: 2, state: "suspended" },
        },
        {
          rule: "a suspended key works again",
          from: "a policy",
          change: { stored: { state: "suspended", policy: { suspended: true } } },
          outcome: { policy: { displayName: "new", suspended: false }, generation: 2, state: "active" },
        },
        {
          rule: "each version that lives has the declared lifetime from its mint",
          from: "a policy",
          change: { action: { expiresAfter: 11 * DAY } },
          outcome: {
            policy: { displayName: "new" },
            generation: 2,
            versions: { 2: { expiresAt: NOW + DAY }, 3: { expiresAt: NOW + DAY } },
          },
        },
        {
          rule: "each version that lives loses a lifetime that is declared no more",
          from: "a policy",
          change: { stored: { versions: { 1: { expiresAt: NOW }, 3: { expiresAt: NOW + DAY } } } },
          outcome: { policy: { displayName: "new" }, generation: 2, versions: { 3: { expiresAt: null } } },
        },
      ],
    },
    {
      decision: "Retire and RetireAdopted",
      says: "End old versions: at their deadline, or once their clients have left them.",
      source,
      rows: [
        {
          rule: "an old version that is past its deadline has ended at it",
          from: "a deadline",
          change: {},
          outcome: { versions: { 1: { state: "retired" } } },
        },
        {
          rule: "an old version at its deadline ends",
          from: "a deadline",
          change: { stored: { versions: { 1: { retireAt: NOW } } } },
          outcome: { versions: { 1: { state: "retired" } } },
        },
        {
          rule: "an old version goes on before its deadline",
          from: "a deadline",
          change: { stored: { versions: { 1: { retireAt: NOW + 1 } } } },
          outcome: UNCHANGED,
        },
        {
          rule: "an old version that ends by itself before its deadline has ended then",
          from: "a deadline",
          change: { stored: { versions: { 1: { retireAt: NOW + DAY, expiresAt: NOW - HOUR } } } },
          outcome: { versions: { 1: { state: "retired", retireAt: NOW - HOUR } } },
        },
        {
          rule: "the active version does not end so, also past its own end",
          from: "a deadline",
          change: { stored: { versions: { 2: { expiresAt: NOW - HOUR } } } },
          outcome: { versions: { 1: { state: "retired" } } },
        },
        {
          rule: "an old version that its clients have left ends now",
          from: "an adoption",
          change: {},
          outcome: { versions: { 1: { state: "retired", retireAt: NOW } } },
        },
        {
          rule: "only that one ends",
          from: "an adoption",
          change: { stored: { versions: { 3: { state: "retiring", retireAt: NOW + DAY } } } },
          outcome: { versions: { 1: { state: "retired", retireAt: NOW } } },
        },
        {
          rule: "the active version does not end so",
          from: "an adoption",
          change: { action: { number: 2 } },
          outcome: UNCHANGED,
        },
        {
          rule: "a version that has ended keeps its end",
          from: "an adoption",
          change: { stored: { versions: { 1: { state: "retired", retireAt: NOW - HOUR } } } },
          outcome: UNCHANGED,
        },
      ],
    },
    {
      decision: "Revoke",
      says: "Ends every version that works. The first reason and time stand.",
      source,
      rows: [
        {
          rule: "the key and each version that lives are revoked",
          from: "a revocation",
          change: {},
          outcome: {
            state: "revoked",
            revocation: { reason: "Deleted", at: NOW, seq: null },
            versions: { 2: { state: "revoked" }, 3: { state: "revoked" }, 4: { state: "revoked" } },
          },
        },
        {
          rule: "a revoked key is not suspended any more",
          from: "a revocation",
          change: { stored: { state: "suspended", policy: { suspended: true } } },
          outcome: {
            state: "revoked",
            policy: { suspended: false },
            revocation: { reason: "Deleted", at: NOW, seq: null },
            versions: { 2: { state: "revoked" }, 3: { state: "revoked" }, 4: { state: "revoked" } },
          },
        },
        {
          rule: "a key that is revoked already keeps its reason and time",
          from: "a revocation",
          change: { stored: REVOKED },
          outcome: UNCHANGED,
        },
        {
          rule: "there is nothing to revoke without a key",
          from: "a revocation",
          change: { stored: undefined },
          outcome: "no key",
        },
      ],
    },
    {
      decision: "Release",
      says: "Leaves a key that works without its declaration.",
      source,
      rows: [
        {
          rule: "the key has no declaration, and a reservation that no workload can have read is voided",
          from: "a release",
          change: {},
          outcome: { ownerUid: null, versions: { 3: { state: "voided" } } },
        },
        {
          rule: "a revoked key keeps the declaration that it had",
          from: "a release",
          change: { stored: REVOKED },
          outcome: UNCHANGED,
        },
        {
          rule: "a key that was released stays as it is",
          from: "a release",
          change: { stored: { ownerUid: null } },
          outcome: UNCHANGED,
        },
      ],
    },
    {
      decision: "A rotation that a person asks for",
      says: "Asks for a version that comes after all there are.",
      source,
      rows: [
        {
          rule: "the request stands with its time",
          from: "a request",
          change: {},
          outcome: { rotationRequest: { at: NOW, revokeOld: false } },
        },
        {
          rule: "the request may ask for the old versions to end",
          from: "a request",
          change: { action: { revokeOld: true } },
          outcome: { rotationRequest: { at: NOW, revokeOld: true } },
        },
        {
          rule: "the latest of several times stands",
          from: "a request",
          change: { stored: { rotationRequest: { at: NOW + 1, revokeOld: false } } },
          outcome: UNCHANGED,
        },
        {
          rule: "an earlier time does not stand",
          from: "a request",
          change: { stored: { rotationRequest: { at: NOW - 1, revokeOld: false } } },
          outcome: { rotationRequest: { at: NOW, revokeOld: false } },
        },
        {
          rule: "a request for the old versions to end stands",
          from: "a request",
          change: { stored: { rotationRequest: { at: NOW - 1, revokeOld: true } } },
          outcome: { rotationRequest: { at: NOW, revokeOld: true } },
        },
        {
          rule: "a request comes after each version that there is",
          from: "a request",
          change: { stored: { versions: { 1: { mintedAt: NOW } } } },
          outcome: { rotationRequest: { at: NOW + 1, revokeOld: false } },
        },
        { rule: "a revoked key takes no request", from: "a request", change: { stored: REVOKED }, outcome: UNCHANGED },
      ],
    },
    {
      decision: "Every other action",
      says: "Changes objects of the cluster, and nothing in the store.",
      source,
      rows: [{ rule: "the key is as it was", from: "a render", change: {}, outcome: UNCHANGED }],
    },
  ],
};
