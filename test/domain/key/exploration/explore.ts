/** Breadth-first over every world that faults, tenants and declared changes can bring about. */
import { hash } from "node:crypto";
import type { VersionState } from "../../../../domain/access/key-record.ts";
import type { DeclaredKey } from "../../../../domain/key/declaration/declared-key.ts";
import { revoke, withRotationRequest } from "../../../../domain/key/plan/apply-action.ts";
import type { StoredKey } from "../../../../domain/key/stored/stored-key.ts";
import {
  crash,
  declare,
  HOUR,
  land,
  newWorld,
  ownedKey,
  plan,
  redeclared,
  STRANGER,
  step,
  type World,
} from "./world.ts";

/** How many of each kind of disturbance one history may have. */
export type Budget = {
  readonly faults: number;
  readonly edits: number;
  readonly changes: number;
  /** Uses of a version, writings of them by the replicas, and deaths of a replica with what it had noted. */
  readonly uses: number;
};

type Disturbance = { readonly name: string; readonly cost: keyof Budget; readonly apply: (world: World) => World };

const spec =
  (change: Partial<DeclaredKey>) =>
  (world: World): World =>
    world.declaration?.deleting ? world : redeclared(world, change);

const secret =
  (change: (world: World) => World["secret"]) =>
  (world: World): World => {
    const next = change(world);
    if (next === world.secret) return world;
    const revisions = world.revisions + 1;
    return { ...world, revisions, secret: next && { ...next, revision: revisions } };
  };

const DISTURBANCES: readonly Disturbance[] = [
  { name: "crash", cost: "faults", apply: crash },
  { name: "crash after the effect", cost: "faults", apply: (world) => step(world, "crash after") },
  {
    name: "crash before the write",
    cost: "faults",
    apply: (world) => (plan(world)?.action.do === "Publish" ? step(world, "crash between") : world),
  },
  { name: "answer lost", cost: "faults", apply: (world) => step(world, "answer lost") },
  { name: "write delayed", cost: "faults", apply: (world) => step(world, "delayed") },

  { name: "Secret deleted", cost: "edits", apply: secret(() => null) },
  {
    name: "Secret edited",
    cost: "edits",
    apply: secret(({ secret }) => (secret && !secret.immutable ? { ...secret, value: STRANGER } : secret)),
  },
  {
    name: "first value put back",
    cost: "edits",
    apply: secret(({ secret, delivered }) =>
      secret && !secret.immutable && delivered[0] !== undefined ? { ...secret, value: delivered[0] } : secret,
    ),
  },
  {
    name: "owner reference stripped",
    cost: "edits",
    apply: secret(({ secret }) => (secret ? { ...secret, owner: null, byReference: false } : secret)),
  },
  {
    name: "Secret planted",
    cost: "edits",
    apply: secret(
      ({ secret }) => secret ?? { owner: null, byReference: false, value: STRANGER, revision: 0, immutable: false },
    ),
  },
  {
    name: "Secret made immutable",
    cost: "edits",
    apply: secret(({ secret }) => (secret ? { ...secret, immutable: true } : secret)),
  },
  {
    name: "finalizer stripped",
    cost: "edits",
    apply: (world) =>
      world.declaration?.deleting
        ? { ...world, declaration: null }
        : world.declaration
          ? { ...world, declaration: { ...world.declaration, hasFinalizer: false } }
          : world,
  },

  { name: "trigger changed", cost: "changes", apply: spec({ rotationTrigger: "next" }) },
  { name: "scopes changed", cost: "changes", apply: spec({ scopes: ["memory:read", "memory:write"] }) },
  { name: "suspended", cost: "changes", apply: spec({ state: "Suspended" }) },
  { name: "resumed", cost: "changes", apply: spec({ state: "Active" }) },
  { name: "revoked by declaration", cost: "changes", apply: spec({ state: "Revoked" }) },
  { name: "rotated every day", cost: "changes", apply: spec({ rotationInterval: 24 * HOUR }) },
  { name: "made to expire", cost: "changes", apply: (world) => spec({ expiresAt: world.now + 24 * HOUR })(world) },
  {
    name: "deleted",
    cost: "changes",
    apply: (world) =>
      world.declaration === null || world.declaration.deleting
        ? world
        : world.declaration.hasFinalizer
          ? { ...world, declaration: { ...world.declaration, deleting: true } }
          : { ...world, declaration: null },
  },
  { name: "kept on deletion", cost: "changes", apply: spec({ retainOnDelete: true }) },
  {
    name: "made again by the same name",
    cost: "changes",
    apply: (world) =>
      world.declaration === null
        ? { ...world, declaration: newWorld(declare()).declaration && againDeclared(world) }
        : world,
  },
  {
    name: "namespace given to another team",
    cost: "changes",
    apply: (world) =>
      world.declaration ? { ...world, declaration: { ...world.declaration, teamId: "team-b" } } : world,
  },
  {
    name: "namespace unclaimed",
    cost: "changes",
    apply: (world) => (world.declaration ? { ...world, declaration: { ...world.declaration, teamId: null } } : world),
  },
  {
    name: "revoked by hand",
    cost: "changes",
    apply: (world) => {
      const key = world.keys.at(-1);
      return key === undefined
        ? world
        : { ...world, keys: world.keys.map((other) => (other === key ? revoke(key, "ByHand", world.now) : other)) };
    },
  },
  {
    name: "rotated by hand, the old one revoked",
    cost: "changes",
    apply: (world) => {
      const key = world.keys.at(-1);
      return key === undefined
        ? world
        : {
            ...world,
            keys: world.keys.map((other) => (other === key ? withRotationRequest(key, true, world.now) : other)),
          };
    },
  },
];

/** What clients and replicas do: they use what is accepted, and report it later. */
function usage(world: World): [string, World][] {
  const accepted = world.keys.flatMap((key) =>
    key.state !== "active"
      ? []
      : key.versions.filter(({ state, retireAt, digest }) =>
          state === "active" ? world.delivered.includes(digest) : state === "retiring" && world.now < (retireAt ?? 0),
        ),
  );
  const isNoted = (digest: string) => world.uses.some((use) => use.digest === digest && use.at === world.now);
  const next = accepted
    .filter(({ digest }) => !isNoted(digest))
    .map(({ digest }): [string, World] => [
      `${digest} is used`,
      { ...world, uses: [...world.uses, { digest, at: world.now, fate: "noted" }] },
    ]);
  const settled = (fate: "written" | "lost") =>
    world.uses.map((use) => (use.fate === "noted" ? { ...use, fate } : use));
  if (world.uses.length > 0 && world.writtenUntil < world.now) {
    next.push(["uses are written", { ...world, uses: settled("written"), writtenUntil: world.now }]);
    next.push(["a replica dies", { ...world, uses: settled("lost"), lostUntil: world.now }]);
  }
  return next;
}

function againDeclared(world: World): World["declaration"] {
  const again = newWorld(declare()).declaration;
  return again && { ...again, uid: `uid-${world.keys.length + 2}` };
}

/** What happens by itself, at no cost: work goes on, replicas confirm, writes land or are lost, time passes. */
function courses(world: World): [string, World][] {
  const next: [string, World][] = [["step", step(world)]];
  if (!world.confirmed) next.push(["confirmed", { ...world, confirmed: true }]);
  world.delayed.forEach((write, i) => {
    const rest = { ...world, delayed: world.delayed.filter((_, j) => j !== i) };
    next.push(["delayed write lands", land(rest, write)], ["delayed write is lost", rest]);
  });
  const swept = sweep(world);
  if (swept !== world) next.push(["swept", swept]);
  const at = plan(world)?.requeueAt ?? Number.POSITIVE_INFINITY;
  // Three days see every deadline of the declarations above pass at least once.
  if (Number.isFinite(at) && at > world.now && at <= 72 * HOUR) next.push(["time passes", { ...world, now: at }]);
  return next;
}

/** Revokes the keys whose declaration is gone without having waited for its finalizer. */
function sweep(world: World): World {
  const orphaned = (key: StoredKey) =>
    key.ownerUid !== null && key.ownerUid !== world.declaration?.uid && key.state !== "revoked";
  return world.keys.some(orphaned)
    ? { ...world, keys: world.keys.map((key) => (orphaned(key) ? revoke(key, "Orphaned", world.now) : key)) }
    : world;
}

/** How long after the last fault everything must be as declared (I8). Milliseconds. */
const TIME_TO_REST_MS = 60_000;

/** How many steps a world may take to come to rest. */
const STEPS_TO_REST = 40;
/** Of as many worlds the rest is known at a time: an exploration by night has millions. */
const MAX_KNOWN = 100_000;

/** A world at rest, and what it violates. */
export type Rest = { readonly wrong: string | undefined };

/** Rests, and the steps to them, by where from: most histories lead to the same worlds before long. */
export type Rests = Map<string, { readonly rest: Rest; readonly steps: number }>;

/**
 * Lets the world come to rest undisturbed. Undefined when it does not within its time.
 *
 * @param judge returns what a world at rest violates
 */
export function settle(start: World, known: Rests, judge: (rest: World) => string | undefined): Rest | undefined {
  const passed: string[] = [];
  const isThere = (rest: Rest, more: number): Rest | undefined => {
    const steps = passed.length + more;
    if (steps > STEPS_TO_REST) return undefined;
    if (known.size > MAX_KNOWN) known.clear();
    passed.forEach((mark, i) => void known.set(mark, { rest, steps: steps - i }));
    return rest;
  };
  let world: World = sweep({ ...start, delayed: [] });
  while (passed.length < STEPS_TO_REST) {
    world = { ...world, confirmed: true };
    const mark = `${fingerprint(world)}${start.now}`;
    const before = known.get(mark);
    if (before !== undefined) return isThere(before.rest, before.steps);
    passed.push(mark);
    const next = plan(world);
    if (next === undefined) return isThere({ wrong: judge(world) }, 0);
    if (next.action.do !== "Nothing") world = step(world);
    else if (next.requeueAt <= start.now + TIME_TO_REST_MS) world = { ...world, now: next.requeueAt };
    else return isThere({ wrong: judge(step(world)) }, 0);
  }
  return undefined;
}

export type Exploration = {
  readonly states: number;
  readonly transitions: number;
  /** The first violation found, with the shortest history that leads to it. */
  readonly violation: { readonly what: string; readonly history: readonly string[] } | null;
};

/** How a state was first reached: the shortest history, as a list from its end. */
type History = { readonly by: string; readonly from: History | null };

/** Visits every state within the budget and checks each, and each transition into it. */
export function explore(from: World, budget: Budget, check: Checks): Exploration {
  type Visit = { readonly world: World; readonly left: Budget; readonly history: History };
  const start: Visit = { world: from, left: budget, history: { by: "declared", from: null } };
  const seen = new Set([markOf(fingerprint(from), budget)]);
  const checked = new Set<string>();
  let frontier = [start];
  let transitions = 0;
  while (frontier.length > 0) {
    const next: Visit[] = [];
    for (const visit of frontier) {
      for (const [by, world, left] of moves(visit.world, visit.left)) {
        transitions++;
        const history = { by, from: visit.history };
        const between = check.transition(visit.world, world, by);
        if (between !== undefined) return { states: seen.size, transitions, violation: violation(between, history) };
        const bare = fingerprint(world);
        const mark = markOf(bare, left);
        if (seen.has(mark)) continue;
        seen.add(mark);
        next.push({ world, left, history });
        if (checked.has(bare)) continue;
        checked.add(bare);
        const wrong = check.state(world);
        if (wrong !== undefined) return { states: seen.size, transitions, violation: violation(wrong, history) };
      }
    }
    frontier = next;
  }
  return { states: seen.size, transitions, violation: null };
}

function moves(world: World, left: Budget): (readonly [string, World, Budget])[] {
  const disturbed = DISTURBANCES.filter(({ cost }) => left[cost] > 0).map(
    ({ name, cost, apply }) => [name, apply(world), { ...left, [cost]: left[cost] - 1 }] as const,
  );
  const used = (left.uses > 0 ? usage(world) : []).map(
    ([name, next]) => [name, next, { ...left, uses: left.uses - 1 }] as const,
  );
  const undisturbed = courses(world).map(([name, next]) => [name, next, left] as const);
  return [...undisturbed, ...used, ...disturbed].filter(([, next]) => next !== world);
}

function violation(what: string, history: History): Exploration["violation"] {
  const steps: string[] = [];
  for (let at: History | null = history; at !== null; at = at.from) steps.unshift(at.by);
  return { what, history: steps };
}

export type Checks = {
  readonly state: (world: World) => string | undefined;
  readonly transition: (from: World, to: World, by: string) => string | undefined;
};

/** Two worlds with one fingerprint have one future: of revisions, all that matters is which is the present one. */
function fingerprint(world: World): string {
  const text = JSON.stringify([
    world.now,
    world.declaration && hashOf(world.declaration),
    world.keys.map(hashOf),
    world.secret && { ...world.secret, revision: 0 },
    world.held,
    world.confirmed,
    world.delayed.map(({ over, ...write }) => [write, over === null ? "create" : over === world.secret?.revision]),
    world.delivered,
    world.uses,
    world.writtenUntil,
    world.lostUntil,
  ]);
  return hash("sha1", text, "base64");
}

const hashes = new WeakMap<object, string>();

/** The hash of a part that most worlds share with the one that they come from: it is taken once. */
function hashOf(part: object): string {
  const known = hashes.get(part);
  if (known !== undefined) return known;
  const taken = hash("sha1", JSON.stringify(part), "base64");
  hashes.set(part, taken);
  return taken;
}

/** A world with what may still happen to it. */
function markOf(bare: string, { faults, edits, changes, uses }: Budget): string {
  return `${bare}${faults},${edits},${changes},${uses}`;
}

/** Whether the Secret holds a version of the declaration's key that works, in one of these states. */
export function usableInSecret(world: World, states: readonly VersionState[] = ["active"]): boolean {
  const key = world.declaration ? ownedKey(world, world.declaration.uid) : undefined;
  const held = key?.versions.find(({ digest }) => digest === world.secret?.value);
  return key?.state === "active" && held !== undefined && states.includes(held.state);
}
