/** The situations of a key that the tables of its rules begin at. */
import type { Reason } from "../../../domain/conditions.ts";
import { NO_POLICY } from "../../../domain/key/fields/key-policies.ts";
import type { ObservedKey } from "../../../domain/key/observed/observed-key.ts";
import type { KeyAction } from "../../../domain/key/plan/key-action.ts";
import { NO_VERDICT } from "../../../domain/key/policies/hold-to-policies.ts";
import type { LastUse } from "../../../domain/key/stored/known-usage.ts";
import type { StoredKey, StoredVersion } from "../../../domain/key/stored/stored-key.ts";
import { type Change, changed, DAY, HOUR, MINUTE, NOW, type RuleSet, SECOND } from "../rule-table.ts";
import { declare } from "./exploration/world.ts";

/** A stored key whose versions a change can name by their numbers; what is not said of one is as {@link version} has it. */
export type KeySituation = Omit<StoredKey, "versions"> & {
  readonly versions: Readonly<Record<number, Partial<StoredVersion>>>;
};

/** An observed key whose versions and last uses a change can name by their numbers. */
export type Situation = Omit<ObservedKey, "stored" | "usage"> & {
  readonly stored: KeySituation | undefined;
  readonly usage:
    | (Omit<NonNullable<ObservedKey["usage"]>, "lastUses"> & {
        readonly lastUses: Readonly<Record<number, Partial<LastUse>>>;
      })
    | null;
};

export function observedKey({ stored, usage, ...rest }: Situation): ObservedKey {
  return {
    ...rest,
    stored: stored && storedKey(stored),
    usage: usage && {
      ...usage,
      lastUses: Object.entries(usage.lastUses).map(([number, use]) => ({
        version: Number(number),
        at: NOW,
        address: null,
        userAgent: null,
        ...use,
      })),
    },
  };
}

export function storedKey({ versions, ...key }: KeySituation): StoredKey {
  const numbers = Object.keys(versions).map(Number);
  return {
    ...key,
    lastNumber: Math.max(key.lastNumber, ...numbers),
    versions: numbers.toSorted((a, b) => b - a).map((number) => ({ ...version(number), ...versions[number] })),
  };
}

/** A version that was minted and activated ten days ago, unless something else is said of it. */
export function version(number: number, more: Partial<StoredVersion> = {}): StoredVersion {
  return {
    number,
    digest: `digest ${number}`,
    prefix: "inf_AbCdEfGh",
    imported: false,
    state: "active",
    mayBeRead: true,
    mintedAt: NOW - 10 * DAY,
    activatedAt: NOW - 10 * DAY,
    retireAt: null,
    expiresAt: null,
    rotationTrigger: null,
    heals: null,
    lastUsedAt: null,
    leakedAt: null,
    ...more,
  };
}

/** A version that is in no Secret yet, or in one that the controller has not seen. */
export function reserved(number: number, more: Partial<StoredVersion> = {}): StoredVersion {
  return version(number, { state: "reserved", mayBeRead: false, activatedAt: null, mintedAt: NOW - MINUTE, ...more });
}

/** An old version, which goes on for so long. */
export function retiring(number: number, forAnother: number, more: Partial<StoredVersion> = {}): StoredVersion {
  return version(number, { state: "retiring", retireAt: NOW + forAnother, ...more });
}

/** Versions by their numbers. */
export function versions(...list: readonly StoredVersion[]): Readonly<Record<number, StoredVersion>> {
  return Object.fromEntries(list.map((one) => [one.number, one]));
}

const DECLARED = declare({
  scopes: ["memory:read", "memory:write"],
  allowedModels: ["model-a", "model-b"],
  overlap: { mode: "Fixed", duration: DAY },
});

export const KEY: KeySituation = {
  id: "key_1",
  cluster: "cluster",
  namespace: "ns",
  name: "key",
  ownerUid: "uid-1",
  teamId: "team-a",
  source: "Generate",
  state: "active",
  policy: {
    ...NO_POLICY,
    displayName: "key",
    scopes: ["memory:read", "memory:write"],
    libraryIds: ["lib_a", "lib_b"],
    allowedModels: ["model-a", "model-b"],
  },
  generation: 1,
  createdAt: version(1).mintedAt,
  revocation: null,
  rotationRequest: null,
  lastNumber: 1,
  versions: versions(version(1)),
};

export const AT_REST_SITUATION: Situation = {
  uid: "uid-1",
  generation: 1,
  deleting: false,
  hasFinalizer: true,
  declared: DECLARED,
  verdict: NO_VERDICT,
  references: {
    teamId: "team-a",
    gatewayId: null,
    gatewayPublicId: null,
    libraryIds: ["lib_a", "lib_b"],
    mcpDefaultLibraryId: null,
    missing: [],
  },
  stored: KEY,
  secret: { state: "ours", holds: 1, immutable: false, rendered: true, owned: true, collected: true, deleting: false },
  altered: null,
  namespaceTerminates: false,
  undoneSince: null,
  secretMarks: [],
  importable: null,
  held: null,
  confirmed: true,
  restartedVersion: null,
  usage: null,
  reportedUse: null,
  steadyFrom: NOW - DAY,
};

/** A situation as another one, but for a change. */
export function like<Of extends { readonly state: Situation }>(
  { state }: Of,
  is: string,
  change: Change<Situation>,
): { readonly is: string; readonly state: Situation } {
  return { is, state: changed<Situation>(state, change) };
}

const atRest = {
  is: "The key has version 1, which is active and in its Secret, and all is as declared.",
  state: AT_REST_SITUATION,
};

const isNew = like(atRest, "The declaration has its finalizer, no key yet, and no Secret.", {
  stored: undefined,
  secret: { state: "absent" },
});
const toImport = like(isNew, "As *new*, with a secret to import, which the controller has yet to read.", {
  declared: { source: { type: "ImportHash", hash: { sha256: "00", prefix: "inf_AbCdEfGh" } } },
});
const readToImport = like(toImport, "As *to import*, and the controller has read the secret's hash.", {
  importable: { digest: "digest 1", prefix: "inf_AbCdEfGh" },
});
const toTakeOver = like(
  toImport,
  "As *to import*, with the name of a key that a person made, which it may take over.",
  {
    importable: { takesOver: "key_made" },
  },
);
const firstReserved = like(
  isNew,
  "Version 1 is reserved, the controller holds its plaintext, and there is no Secret yet.",
  { stored: { ...KEY, versions: { 1: reserved(1) } }, held: 1 },
);
const firstDelivered = like(firstReserved, "As *first reserved*, and the Secret holds version 1.", {
  secret: AT_REST_SITUATION.secret,
});
const inVain = like(
  isNew,
  "Four controllers have each reserved a version, of which the second is one minute old, and ended before its Secret was known to be written.",
  {
    stored: {
      ...KEY,
      versions: versions(
        reserved(1, { mintedAt: NOW - 2 * MINUTE }),
        reserved(2, { mintedAt: NOW - MINUTE }),
        reserved(3, { mintedAt: NOW - 59 * SECOND }),
        reserved(4, { mintedAt: NOW - 58 * SECOND }),
      ),
    },
  },
);

const edited = like(atRest, "As *at rest*, and a later generation declares other scopes.", {
  generation: 2,
  declared: { scopes: ["memory:read"] },
});
const toSuspend = like(atRest, "As *at rest*, and a later generation declares the key suspended.", {
  generation: 2,
  declared: { state: "Suspended" },
});
const suspended = like(atRest, "As *at rest*, declared suspended, which it is.", {
  declared: { state: "Suspended" },
  stored: { state: "suspended", policy: { suspended: true } },
});
const revoked = like(atRest, "As *at rest*, and the key is revoked: a person did so.", {
  stored: {
    state: "revoked",
    revocation: { reason: "ByHand", at: NOW - HOUR, seq: 7 },
    versions: { 1: { state: "revoked" } },
  },
});
const toRevoke = like(atRest, "As *at rest*, and the declaration asks for the key to be revoked.", {
  declared: { state: "Revoked" },
});
const ending = like(atRest, "As *at rest*, and the key has a declared end, in an hour.", {
  declared: { expiresAt: NOW + HOUR },
  stored: { policy: { expiresAt: NOW + HOUR } },
});
const limited = like(atRest, "As *at rest*, and each version ends ten days and an hour after its mint.", {
  declared: { expiresAfter: 10 * DAY + HOUR },
  stored: { versions: { 1: { expiresAt: NOW + HOUR } } },
});

const toRotate = like(atRest, "As *at rest*, and `rotation.trigger` has changed.", {
  declared: { rotationTrigger: "next" },
});
const atInterval = like(
  atRest,
  "As *at rest*, with an interval of 30 days, which for this version of this key is over after 29 days, 7 h, 45 min and 19.677 s, at this moment.",
  {
    declared: { rotationInterval: 30 * DAY },
    stored: { versions: { 1: { mintedAt: NOW - 2_533_519_677 } } },
  },
);
const lost = like(atRest, "As *at rest*, and the Secret is gone.", { secret: { state: "absent" } });
const tampered = like(atRest, "As *at rest*, and something else has written another value into the Secret.", {
  secret: { holds: "unknown", rendered: false },
});
const lostBeforeItsEnd = like(lost, "As *lost*, and version 1 itself ends in 1 ms.", {
  declared: { expiresAfter: 10 * DAY },
  stored: { versions: { 1: { mintedAt: NOW - 10 * DAY + 1, expiresAt: NOW + 1 } } },
});
const tamperedBeforeItsEnd = like(lostBeforeItsEnd, "As *tampered*, and version 1 itself ends in 1 ms.", {
  secret: tampered.state.secret,
});
const lostAgain = like(
  lost,
  "Version 2 was minted 5 s ago since the Secret was lost, version 1 goes on for a day, and the Secret is gone again.",
  {
    stored: {
      versions: versions(
        version(2, {
          mintedAt: NOW - 5 * SECOND,
          activatedAt: NOW - 5 * SECOND,
          heals: { reason: "SecretLost", at: NOW - 5 * SECOND },
        }),
        retiring(1, DAY),
      ),
    },
  },
);
const lostOften = like(
  lost,
  "Versions 2 and 3 were minted since the Secret was lost, the latter 30 s ago, versions 1 and 2 go on for a day, and the Secret is gone again.",
  {
    stored: {
      versions: versions(
        version(3, {
          mintedAt: NOW - 30 * SECOND,
          activatedAt: NOW - 30 * SECOND,
          heals: { reason: "SecretLost", at: NOW - 30 * SECOND },
        }),
        retiring(2, DAY, { heals: { reason: "SecretLost", at: NOW - HOUR } }),
        retiring(1, DAY),
      ),
    },
  },
);

const reservedNext = like(
  toRotate,
  "As *to rotate*, version 2 is reserved, and the controller that holds its plaintext has yet to write it into the Secret.",
  { stored: { versions: { 2: reserved(2, { rotationTrigger: "next" }) } }, held: 2 },
);
const delivered = like(reservedNext, "As *reserved*, and the Secret holds version 2.", {
  stored: { versions: { 2: { mayBeRead: true } } },
  secret: { holds: 2 },
});
const rotated = like(
  atRest,
  "Version 2 is active and in the Secret, and has been for two hours; version 1 goes on for another day.",
  {
    stored: {
      versions: versions(version(2, { mintedAt: NOW - 2 * HOUR, activatedAt: NOW - 2 * HOUR }), retiring(1, DAY)),
    },
    secret: { holds: 2 },
  },
);
const overdue = like(rotated, "As *rotated*, and version 1 has reached its deadline.", {
  stored: { versions: { 1: { retireAt: NOW } } },
});
const rotatedLimited = like(
  rotated,
  "As *rotated*, each version ends ten days after its mint, and version 1 does so in 1 ms.",
  {
    declared: { expiresAfter: 10 * DAY },
    stored: {
      versions: {
        1: { mintedAt: NOW - 10 * DAY + 1, expiresAt: NOW + 1 },
        2: { expiresAt: NOW - 2 * HOUR + 10 * DAY },
      },
    },
  },
);
const adopted = like(
  rotated,
  "As *rotated*, with an overlap by adoption (at least 1 h, at most 26 h, 10 min unused): version 2 has been used, and version 1 has not been for 10 min.",
  {
    declared: { overlap: { mode: "Adoption", min: HOUR, max: 26 * HOUR, quiet: 10 * MINUTE } },
    usage: {
      now: NOW,
      knownUntil: NOW,
      lostUntil: null,
      lastUses: { 1: { at: NOW - 10 * MINUTE }, 2: { at: NOW - MINUTE } },
    },
  },
);
const crowded = like(
  toRotate,
  "As *to rotate*, the active version is the fifth, and the four before it go on for one, two, three and four hours.",
  {
    stored: {
      versions: versions(
        version(5),
        retiring(4, 4 * HOUR),
        retiring(3, 3 * HOUR),
        retiring(2, 2 * HOUR),
        retiring(1, HOUR),
      ),
    },
    secret: { holds: 5 },
  },
);
const crowdedDelivery = like(
  atRest,
  "The Secret holds version 7, which is reserved. It succeeds two: version 5, which is active, and version 6, which is reserved and may have been read. Versions 3 and 4 go on for an hour and two; versions 1 and 2 have ended.",
  {
    stored: {
      versions: versions(
        reserved(7, { mayBeRead: true }),
        reserved(6, { mayBeRead: true }),
        version(5),
        retiring(4, 2 * HOUR),
        retiring(3, HOUR),
        version(2, { state: "retired" }),
        version(1, { state: "retired" }),
      ),
    },
    secret: { holds: 7 },
  },
);

const toRender = like(atRest, "As *at rest*, and the Secret is not as declared, but for its value.", {
  secret: { rendered: false },
});
const altered = like(
  toRender,
  "As *to render*, and a minute ago the controller wrote the Secret, whose labels something else changed in the same moment.",
  {
    altered: { version: 1, fields: ["metadata.labels"], isShownInAnswer: true, writtenAt: NOW - MINUTE },
  },
);
const alteredReservation = like(
  reservedNext,
  "As *reserved*, and a minute ago the controller wrote version 2 into the Secret, whose value something else changed in the same moment.",
  {
    secret: { holds: "unknown", rendered: false },
    altered: { version: 2, fields: ["data[api-key]"], isShownInAnswer: true, writtenAt: NOW - MINUTE },
  },
);
const toRestart = like(atRest, "As *at rest*, and the declaration names a Deployment to restart.", {
  declared: { restartTargets: [{ kind: "Deployment", name: "agent" }] },
});
const reported = like(rotated, "As *rotated*, and a Secret that holds something else is only reported.", {
  declared: { secret: { healTampered: false } },
});

const deleted = like(atRest, "As *at rest*, and the declaration is being deleted.", { deleting: true });
const deletedRevoked = like(deleted, "As *deleted*, and the key is revoked.", {
  stored: {
    state: "revoked",
    revocation: { reason: "Deleted", at: NOW, seq: null },
    versions: { 1: { state: "revoked" } },
  },
});
const leftSecret = like(deletedRevoked, "As *deleted and revoked*, and the Secret names no owner.", {
  secret: { owned: false, collected: false },
});
const retained = like(deleted, "As *deleted*, and `deletionPolicy` is `Retain`.", {
  declared: { retainOnDelete: true },
});
const retainedDelivery = like(
  crowdedDelivery,
  "As *crowded delivery*, the declaration is being deleted, and `deletionPolicy` is `Retain`.",
  { deleting: true, declared: { retainOnDelete: true } },
);
const protectedKey = like(deleted, "As *deleted*, and the key is protected from deletion.", {
  declared: { deletionProtection: true },
});

/** The situations by their names. Each is decided at {@link NOW}. */
export const SITUATIONS = {
  "at rest": atRest,
  new: isNew,
  "to import": toImport,
  "read to import": readToImport,
  "to take over": toTakeOver,
  "first reserved": firstReserved,
  "first delivered": firstDelivered,
  "reserved in vain": inVain,
  edited,
  "to suspend": toSuspend,
  suspended,
  "to revoke": toRevoke,
  revoked,
  ending,
  limited,
  "to rotate": toRotate,
  "at its interval": atInterval,
  lost,
  tampered,
  "lost before its end": lostBeforeItsEnd,
  "tampered before its end": tamperedBeforeItsEnd,
  "lost again": lostAgain,
  "lost often": lostOften,
  reserved: reservedNext,
  delivered,
  rotated,
  overdue,
  "rotated before its end": rotatedLimited,
  adopted,
  crowded,
  "crowded delivery": crowdedDelivery,
  "to render": toRender,
  altered,
  "altered reservation": alteredReservation,
  "to restart": toRestart,
  reported,
  deleted,
  "deleted and revoked": deletedRevoked,
  "deleted, its Secret released": leftSecret,
  retained,
  "retained delivery": retainedDelivery,
  protected: protectedKey,
} as const;

type StepOf<Action> = Action extends KeyAction ? Pick<Action, "do"> & Change<Action> : never;

/**
 * What of a plan a row is about: the action, with those of its fields that matter, when to look again, and the reason of
 * the condition SecretDelivered.
 */
type Step = StepOf<KeyAction> & { readonly requeueAt?: number; readonly because?: Reason };

export type KeyRules = RuleSet<keyof typeof SITUATIONS, Situation, Step>;
export type KeyTable = KeyRules["tables"][number];

export const NOTHING = { do: "Nothing" } as const;
/** What time alone never changes is looked at again at no time. */
export const NEVER = Number.POSITIVE_INFINITY;
