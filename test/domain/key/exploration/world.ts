/**
 * A small world around the real `planKey`: one declaration, its Secret, the store's rows, one controller process and
 * the writes that are still on their way. Every transition returns a new world, so that all of them can be explored.
 */

import { dependsOnUsage } from "../../../../domain/key/conditions/stale-consumers.ts";
import {
  DEFAULT_OVERLAP,
  type DeclaredKey,
  isSecretCollected,
  type Overlap,
} from "../../../../domain/key/declaration/declared-key.ts";
import { eachFact } from "../../../../domain/key/declaration/facts.ts";
import type { ObservedKey } from "../../../../domain/key/observed/observed-key.ts";
import { applyAction } from "../../../../domain/key/plan/apply-action.ts";
import type { KeyAction } from "../../../../domain/key/plan/key-action.ts";
import { type KeyPlan, planKey } from "../../../../domain/key/plan/plan-key.ts";
import { NO_VERDICT } from "../../../../domain/key/policies/hold-to-policies.ts";
import type { KnownUsage } from "../../../../domain/key/stored/known-usage.ts";
import type { StoredKey } from "../../../../domain/key/stored/stored-key.ts";

/** One unit of the world's clock, in milliseconds. */
export const HOUR = 3_600_000;

export type Declaration = {
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly hasFinalizer: boolean;
  readonly declared: DeclaredKey;
  readonly teamId: string | null;
};

export type WorldSecret = {
  /** Who made it: the uid of a declaration, or null for a tenant. */
  readonly owner: string | null;
  /** Whether it names that declaration by an owner reference. */
  readonly byReference: boolean;
  /** The digest of a version, or a value that Keyplane did not mint. */
  readonly value: string;
  /** Grows with every write to any Secret of this name: uid and resourceVersion in one. */
  readonly revision: number;
  readonly immutable: boolean;
};

/** A write of the Secret that was sent and not yet answered; it lands at any later moment, or never. */
export type DelayedWrite = {
  readonly owner: string;
  readonly byReference: boolean;
  readonly value: string;
  readonly over: number | null;
};

export type World = {
  readonly now: number;
  readonly declaration: Declaration | null;
  readonly keys: readonly StoredKey[];
  readonly secret: WorldSecret | null;
  readonly revisions: number;
  /** The digest whose plaintext the process holds. */
  readonly held: string | null;
  /** Whether the replicas have confirmed the process's last change. */
  readonly confirmed: boolean;
  readonly delayed: readonly DelayedWrite[];
  /** Digests that were ever in a Secret of ours. */
  readonly delivered: readonly string[];
  /** Every use of a version, oldest first. */
  readonly uses: readonly Use[];
  /** Up to when the uses are written by every replica that lives, and until when one died with some of its own. */
  readonly writtenUntil: number;
  readonly lostUntil: number | null;
};

export type Use = { readonly digest: string; readonly at: number; readonly fate: "noted" | "written" | "lost" };

export const STRANGER = "unknown";

export function declare(changes: Partial<DeclaredKey> = {}): DeclaredKey {
  return {
    displayName: "key",
    scopes: ["memory:read"],
    state: "Active",
    source: { type: "Generate" },
    gatewayRef: null,
    allowedModels: null,
    libraryRefs: null,
    mcpDefaultLibraryRef: null,
    expiresAfter: null,
    expiresAt: null,
    rotationInterval: null,
    rotationTrigger: null,
    overlap: DEFAULT_OVERLAP,
    rateLimit: null,
    concurrent: null,
    tokenLimit: null,
    budgets: null,
    subject: null,
    allowedCIDRs: null,
    ...eachFact(() => null),
    secret: {
      name: "key",
      dataKey: "api-key",
      deleteWithKey: true,
      healLost: true,
      healTampered: true,
      template: null,
    },
    restartTargets: [],
    retainOnDelete: false,
    deletionProtection: false,
    ...changes,
  };
}

export function newWorld(declared: DeclaredKey): World {
  return {
    now: 0,
    declaration: { uid: "uid-1", generation: 1, deleting: false, hasFinalizer: false, declared, teamId: "team-a" },
    keys: [],
    secret: null,
    revisions: 0,
    held: null,
    confirmed: true,
    delayed: [],
    delivered: [],
    uses: [],
    writtenUntil: 0,
    lostUntil: null,
  };
}

/** The newest row that a declaration owns. */
export function ownedKey(world: World, uid: string): StoredKey | undefined {
  return world.keys.findLast((key) => key.ownerUid === uid);
}

export function observe(world: World, declaration: Declaration): ObservedKey {
  const owned = ownedKey(world, declaration.uid);
  const stored = owned && withLastUses(world, owned);
  const held = stored?.versions.find((version) => version.digest === world.held && version.state === "reserved");
  return {
    uid: declaration.uid,
    generation: declaration.generation,
    deleting: declaration.deleting,
    hasFinalizer: declaration.hasFinalizer,
    declared: declaration.declared,
    verdict: NO_VERDICT,
    references: {
      teamId: declaration.teamId,
      gatewayId: null,
      gatewayPublicId: null,
      libraryIds: null,
      mcpDefaultLibraryId: null,
      missing: [],
    },
    stored,
    secret: observeSecret(world, declaration, stored),
    altered: null,
    namespaceTerminates: false,
    undoneSince: null,
    secretMarks: [],
    importable: null,
    held: held?.number ?? null,
    confirmed: world.confirmed,
    restartedVersion: null,
    usage: stored !== undefined && dependsOnUsage(declaration.declared, stored) ? knownUsage(world, stored) : null,
    reportedUse: null,
    steadyFrom: Number.NEGATIVE_INFINITY,
  };
}

const lastUse = ({ uses }: World, digest: string) =>
  uses.findLast((use) => use.digest === digest && use.fate === "written")?.at ?? null;

function withLastUses(world: World, key: StoredKey): StoredKey {
  return {
    ...key,
    versions: key.versions.map((one) => ({ ...one, lastUsedAt: lastUse(world, one.digest) ?? one.lastUsedAt })),
  };
}

function knownUsage({ now, writtenUntil, lostUntil }: World, key: StoredKey): KnownUsage {
  const lastUses = key.versions.flatMap(({ number, lastUsedAt }) =>
    lastUsedAt === null ? [] : [{ version: number, at: lastUsedAt, address: null, userAgent: null }],
  );
  return { now, knownUntil: writtenUntil, lostUntil, lastUses };
}

function observeSecret(
  { secret, keys }: World,
  { uid, declared }: Declaration,
  stored: StoredKey | undefined,
): ObservedKey["secret"] {
  if (secret === null) return { state: "absent" };
  const owned = secret.owner === uid;
  if (!owned && !isMintedAndUnowned(secret, keys)) return { state: "unmanaged" };
  const holds = stored?.versions.find((version) => version.digest === secret.value)?.number ?? "unknown";
  const { immutable, byReference } = secret;
  const rendered = owned && byReference === isSecretCollected(declared);
  return { state: "ours", holds, immutable, deleting: false, rendered, owned, collected: owned && byReference };
}

/**
 * A Secret without an owner that holds what was minted for a key of this name is ours all the same, unless it
 * delivers a key that was released and lives on.
 */
export function isMintedAndUnowned(secret: WorldSecret, keys: World["keys"]): boolean {
  const key = keys.find(({ versions }) => versions.some(({ digest }) => digest === secret.value));
  return secret.owner === null && key !== undefined && (key.ownerUid !== null || key.state === "revoked");
}

let last: { readonly world: World; readonly plan: KeyPlan | undefined } | undefined;

/** What is planned in a world. The last answer is kept: one world is asked about several times in a row. */
export function plan(world: World): KeyPlan | undefined {
  if (last?.world !== world) {
    const { declaration, now } = world;
    last = { world, plan: declaration === null ? undefined : planKey(observe(world, declaration), now) };
  }
  return last.plan;
}

/** How a step's one effect goes. */
export type Outcome =
  /** It happens, and the process learns so. */
  | "done"
  /** It happens; the process dies before it learns of it. */
  | "crash after"
  /** The process dies between the note that a version may be read and the write of its Secret. */
  | "crash between"
  /** It happens; the answer is lost, and the process goes on. */
  | "answer lost"
  /** A write to the Secret is on its way when the process gives up waiting. */
  | "delayed";

/** Observes, plans and carries out one step. The same world again when there is nothing to do. */
export function step(world: World, outcome: Outcome = "done"): World {
  const next = plan(world);
  if (next === undefined || world.declaration === null) return world;
  const after = act(world, world.declaration, next.action, outcome);
  return outcome.startsWith("crash") ? crash(after) : after;
}

/** The process ends and another begins: what was in its memory is gone. */
export function crash(world: World): World {
  return { ...world, held: null };
}

function act(world: World, declaration: Declaration, action: KeyAction, outcome: Outcome): World {
  switch (action.do) {
    case "Render":
      return {
        ...world,
        revisions: world.revisions + 1,
        secret: world.secret && {
          ...world.secret,
          owner: declaration.uid,
          byReference: isSecretCollected(declaration.declared),
          revision: world.revisions + 1,
        },
      };
    case "Nothing":
    case "Restart":
      return { ...world, held: null };
    case "Wait":
      return world;
    case "AddFinalizer":
      return { ...world, declaration: { ...declaration, hasFinalizer: true } };
    case "Reserve":
      return reserve(world, declaration, action);
    case "Import":
    case "TakeOver":
      throw new Error("nothing here is imported or taken over");
    case "Publish":
      return publish(world, declaration, action, outcome);
    case "Activate":
      return { ...store(world, declaration, action), held: null };
    case "UpdatePolicy":
    case "Retire":
    case "RetireAdopted":
    case "Revoke":
    case "Release":
      return store(world, declaration, action);
    case "DetachSecret":
      return {
        ...world,
        revisions: world.revisions + 1,
        secret: world.secret && {
          ...world.secret,
          owner: null,
          byReference: false,
          revision: world.revisions + 1,
        },
      };
    case "DeleteSecret":
      return { ...world, secret: null };
    case "ReleaseFinalizer":
      return { ...world, declaration: null, held: null };
  }
}

function reserve(world: World, declaration: Declaration, action: KeyAction & { do: "Reserve" }): World {
  const id = action.newKey ? newKeyId(world) : (ownedKey(world, declaration.uid)?.id ?? "");
  return { ...store(world, declaration, action), held: `${id}/${action.number}` };
}

function publish(
  world: World,
  declaration: Declaration,
  action: KeyAction & { do: "Publish" },
  outcome: Outcome,
): World {
  const noted = { ...store(world, declaration, action), confirmed: world.confirmed };
  const over = world.secret === null ? null : world.secret.revision;
  const byReference = isSecretCollected(declaration.declared);
  const write = { owner: declaration.uid, byReference, value: world.held ?? "", over };
  if (outcome === "crash between") return noted;
  if (outcome === "delayed") return { ...noted, delayed: [...noted.delayed, write] };
  const written = land(noted, write);
  // One that is refused leaves no note.
  return written === noted && outcome === "done" ? world : written;
}

const newKeyId = ({ keys }: World) => `key-${keys.length + 1}`;

/** Stores an action on the newest row of a declaration, or as a new one; the replicas have yet to confirm it. */
function store(world: World, { uid, generation, declared, teamId }: Declaration, action: KeyAction): World {
  const isNew = action.do === "Reserve" && action.newKey;
  const key = isNew ? undefined : ownedKey(world, uid);
  if (key === undefined && !isNew) return world;
  const id = key?.id ?? newKeyId(world);
  const after = applyAction(key, action, {
    now: world.now,
    generation,
    declared,
    identity: { id, cluster: "cluster", namespace: "ns", name: "key", ownerUid: uid, teamId: teamId ?? "" },
    secret: { digest: action.do === "Reserve" ? `${id}/${action.number}` : "", prefix: "inf_" },
    undoneSince: null,
  });
  if (after === undefined) return world;
  const keys = key === undefined ? [...world.keys, after] : world.keys.map((other) => (other === key ? after : other));
  return { ...world, keys, confirmed: false };
}

/** A declaration whose first version was reserved as often as said, at hour 0, by processes that ended before its Secret. */
export function reservedInVain(times: number): World {
  let world = step(newWorld(declare()));
  for (let round = 0; round < times; round++) world = { ...crash(step(world)), confirmed: true };
  return world;
}

/**
 * A declaration whose Secret was written as often as said, at hour 0, each time by a process that ended before it could
 * activate the version, and lost after it.
 */
export function publishedInVain(times: number): World {
  let world = step(newWorld(declare()));
  for (let round = 0; round < times; round++) {
    world = { ...step(world), confirmed: true };
    world = { ...step(world, "crash after"), secret: null };
  }
  return world;
}

/** A write of the Secret reaches the API server, which refuses it when its precondition does not hold. */
export function land(world: World, write: DelayedWrite): World {
  const holds = write.over === null ? world.secret === null : world.secret?.revision === write.over;
  if (!holds || world.secret?.immutable) return world;
  const revisions = world.revisions + 1;
  return {
    ...world,
    revisions,
    secret: {
      owner: write.owner,
      byReference: write.byReference,
      value: write.value,
      revision: revisions,
      immutable: false,
    },
    delivered: world.delivered.includes(write.value) ? world.delivered : [...world.delivered, write.value],
  };
}

/** A key at rest that was rotated as often as said, at hour 0: every old version goes on. */
export function rotated(overlap: Overlap, times = 1): World {
  let world = newWorld(declare({ overlap }));
  for (let round = 0; round <= times; round++) {
    for (let i = 0; i < 12; i++) world = step({ ...world, confirmed: true });
    if (round < times) world = redeclared(world, { rotationTrigger: String(round) });
  }
  return { ...world, confirmed: true };
}

/** The declaration with a change, as its next generation. */
export function redeclared(world: World, change: Partial<DeclaredKey>): World {
  const { declaration } = world;
  if (declaration === null) return world;
  const declared = { ...declaration.declared, ...change };
  return { ...world, declaration: { ...declaration, generation: declaration.generation + 1, declared } };
}
