/** What users do, as a table. Each move chooses from the model alone, so that a seed makes the same choices again. */
import { setTimeout as delay } from "node:timers/promises";
import { change, type Tx } from "../../store/database/change.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import { requestRotation } from "../../store/keys/lifecycle/rotation-request.ts";
import type { Random } from "../env/random.ts";
import {
  everDeclared,
  forget,
  type KeySpec,
  type ModelDeclaration,
  NAMESPACES,
  TEAMS,
  teamOf,
} from "../oracle/model.ts";
import { base64, forgedKey } from "../oracle/secrets.ts";
import { keysPath, secretsPath } from "../oracle/watch.ts";
import { findKeyByOwner } from "../store/questions.ts";
import { hasMemoryScope, LIBRARY, randomOverlap, randomRights } from "./specs.ts";
import type { Stage } from "./stage.ts";

/** @returns what it did, in words; undefined where there was nothing to do it to */
type Move = (stage: Stage, random: Random) => string | undefined;

const pathOf = ({ namespace, name }: ModelDeclaration) => `${keysPath(namespace)}/${name}`;
const secretPathOf = ({ namespace, secretName }: ModelDeclaration) => `${secretsPath(namespace)}/${secretName}`;

function anyKey({ model }: Stage, random: Random, fits: (one: ModelDeclaration) => boolean = () => true) {
  return random.pickAny([...model.declared.values()].filter((one) => !one.deleting && fits(one)));
}

/** Changes fields of a declaration's spec; one that is undefined goes. */
function edit(
  stage: Stage,
  one: ModelDeclaration,
  spec: { readonly [field in keyof KeySpec]?: KeySpec[field] | undefined },
): void {
  Object.assign(one.spec, spec);
  if ("state" in spec || "expiresAt" in spec) one.holds++;
  stage.act(one.title, () => stage.admin.patch(pathOf(one), { spec: withNulls(spec) }));
}

/** As a merge patch wants it. */
function withNulls(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? null]));
}

const isActive = (state: KeySpec["state"]) => state !== "Suspended" && state !== "Revoked";
const isSuspended = (state: KeySpec["state"]) => state === "Suspended";

function setState(state: "Active" | "Suspended", wanted: (state: KeySpec["state"]) => boolean): Move {
  return (stage, random) => {
    const one = anyKey(stage, random, ({ spec }) => wanted(spec.state));
    if (one === undefined) return undefined;
    edit(stage, one, { state });
    return one.title;
  };
}

/** As {@link setState}, of all keys of a team at once. */
function setStates(state: "Active" | "Suspended", wanted: (state: KeySpec["state"]) => boolean): Move {
  return (stage, random) => {
    const { model } = stage;
    const team = random.pick(TEAMS);
    const own = [...model.declared.values()].filter(
      ({ namespace, deleting, spec }) => !deleting && teamOf(model, namespace) === team && wanted(spec.state),
    );
    for (const one of own) edit(stage, one, { state });
    return own.length === 0 ? undefined : `${team}, ${own.length} keys`;
  };
}

/** That its declaration is deleted: a protected one waits. */
function expectDeletion({ model }: Stage, one: ModelDeclaration): void {
  if (one.spec.deletionProtection === true) one.deleting = true;
  else forget(model, one);
}

function remove(stage: Stage, one: ModelDeclaration, options?: Record<string, unknown>): void {
  expectDeletion(stage, one);
  stage.act(one.title, () => stage.admin.remove(pathOf(one), options));
}

/** Changes a Secret that is a key's own; another owner's by that name stays as it is. */
function changeSecret(stage: Stage, one: ModelDeclaration, patch: Record<string, unknown>): void {
  const { model, admin, act } = stage;
  const title = `${one.namespace}/${one.secretName}`;
  if (model.unmanaged.has(title)) return;
  one.causes++;
  one.holds++;
  act(one.title, () => admin.patch(secretPathOf(one), patch));
}

/** What an editor makes a Secret hold. */
const SPOILS: Record<string, (stage: Stage, random: Random) => string | null> = {
  "a forged key": ({ model }) => {
    const value = forgedKey();
    model.planted.add(value);
    return value;
  },
  "another's or an old key": ({ secrets }, random) => random.pickAny(secrets.held)?.value ?? "none",
  "a text": () => "spoiled",
  nothing: () => null,
};

export const MOVES: Readonly<Record<string, { readonly weight: number; readonly move: Move }>> = {
  create: {
    weight: 8,
    move(stage, random) {
      const count = stage.model.declared.size + stage.model.former.length;
      return stage.declare(random, random.pick(NAMESPACES), `key-${count + 1}`).title;
    },
  },
  recreate: {
    weight: 5,
    move(stage, random) {
      const free = stage.model.former.filter(({ title }) => !stage.model.declared.has(title));
      const one = random.pickAny(free);
      return one && stage.declare(random, one.namespace, one.name).title;
    },
  },
  delete: {
    weight: 8,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      remove(stage, one);
      return one.title;
    },
  },
  "replace at once": {
    weight: 3,
    move(stage, random) {
      const one = anyKey(stage, random, ({ spec }) => spec.deletionProtection !== true);
      if (one === undefined) return undefined;
      remove(stage, one);
      return stage.declare(random, one.namespace, one.name).title;
    },
  },
  "delete every key of a namespace, and declare most again": {
    weight: 0.7,
    move(stage, random) {
      const namespace = random.pick(NAMESPACES);
      const own = [...stage.model.declared.values()].filter((one) => one.namespace === namespace);
      if (own.length === 0) return undefined;
      for (const one of own) expectDeletion(stage, one);
      stage.act(namespace, () => stage.admin.remove(keysPath(namespace)));
      redeclareSome(stage, random, own);
      return `${namespace}, ${own.length} keys`;
    },
  },
  "lift the protection": {
    weight: 3,
    move(stage, random) {
      const guarded = [...stage.model.declared.values()].filter(({ spec }) => spec.deletionProtection === true);
      const one = random.pickAny(guarded);
      if (one === undefined) return undefined;
      if (one.deleting) forget(stage.model, one);
      edit(stage, one, { deletionProtection: false });
      return one.title;
    },
  },
  rotate: {
    weight: 14,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      one.causes++;
      one.spec.rotation.trigger = String(random.below(1_000_000));
      const { trigger } = one.spec.rotation;
      stage.act(one.title, () => stage.admin.patch(pathOf(one), { spec: { rotation: { trigger } } }));
      return one.title;
    },
  },
  "rotate by hand": {
    weight: 3,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      one.causes++;
      const revokeOld = random.chance(0.4);
      byHand(stage, one, (tx, keyId) => requestRotation(tx, keyId, revokeOld, { actor: "chaos" }));
      return `${one.title}${revokeOld ? ", ending the old" : ""}`;
    },
  },
  "revoke by hand": {
    weight: 2,
    move(stage, random) {
      const one = anyKey(stage, random, ({ revokedByHand }) => !revokedByHand);
      if (one === undefined) return undefined;
      one.revokedByHand = true;
      byHand(stage, one, (tx, keyId) => revokeKey(tx, keyId, "ByHand", { actor: "chaos" }));
      return one.title;
    },
  },
  "declare revoked": {
    weight: 2,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      edit(stage, one, { state: "Revoked" });
      return one.title;
    },
  },
  suspend: { weight: 5, move: setState("Suspended", isActive) },
  resume: { weight: 6, move: setState("Active", isSuspended) },
  "suspend every key of a team": { weight: 0.7, move: setStates("Suspended", isActive) },
  "resume every key of a team": { weight: 1.5, move: setStates("Active", isSuspended) },
  "there and back": {
    weight: 2,
    move(stage, random) {
      const one = anyKey(stage, random, ({ spec }) => (spec.state ?? "Active") === "Active");
      if (one === undefined) return undefined;
      edit(stage, one, { state: "Suspended" });
      edit(stage, one, { state: "Active" });
      return one.title;
    },
  },
  "change rights": {
    weight: 6,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      const rights = randomRights(random);
      const restricted = hasMemoryScope(rights) && random.chance(0.3);
      edit(stage, one, {
        preset: undefined,
        scopes: undefined,
        ...rights,
        libraryAccess: restricted ? { mode: "Restricted", libraryRefs: [{ name: LIBRARY }] } : undefined,
      });
      return one.title;
    },
  },
  "change the end": {
    weight: 4,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      const inMs = random.pick([-60_000, 5_000, 20_000, 86_400_000]);
      const expiresAt = random.chance(0.7) ? new Date(Date.now() + inMs).toISOString() : null;
      edit(stage, one, { expiresAfter: null, expiresAt });
      return `${one.title} to ${expiresAt === null ? "none" : `${inMs / 1_000} s from now`}`;
    },
  },
  "change the overlap": {
    weight: 3,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      const overlap = randomOverlap(random);
      Object.assign(one.spec.rotation, { overlap });
      const patch = { duration: null, min: null, max: null, quiet: null, ...overlap };
      stage.act(one.title, () => stage.admin.patch(pathOf(one), { spec: { rotation: { overlap: patch } } }));
      return one.title;
    },
  },
  "change the template": {
    weight: 3,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      const template = random.pick(["Env", "McpConfig", null]);
      stage.act(one.title, () => stage.admin.patch(pathOf(one), { spec: { secret: { template } } }));
      return one.title;
    },
  },
  "lose the Secret": {
    weight: 6,
    move(stage, random) {
      const one = anyKey(stage, random, ({ namespace, secretName }) => {
        return !stage.model.unmanaged.has(`${namespace}/${secretName}`);
      });
      if (one === undefined) return undefined;
      one.causes++;
      stage.act(one.title, () => stage.admin.remove(secretPathOf(one)));
      return one.title;
    },
  },
  "edit the Secret": {
    weight: 7,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      const [name, spoil] = random.pickAny(Object.entries(SPOILS)) ?? [];
      const value = spoil?.(stage, random) ?? null;
      if (value !== null) stage.model.edited.set(`${one.namespace}/${one.secretName}`, value);
      changeSecret(stage, one, { data: { [one.dataKey]: value === null ? null : base64(value) } });
      return `${one.title}: ${name}`;
    },
  },
  "prune the Secret again and again": {
    weight: 2,
    move(stage, random) {
      const one = anyKey(stage, random, ({ namespace, secretName }) => {
        return !stage.model.unmanaged.has(`${namespace}/${secretName}`);
      });
      if (one === undefined) return undefined;
      const times = random.between(2, 7);
      one.causes += times;
      stage.act(one.title, async () => {
        for (let n = 0; n < times; n++) {
          await stage.admin.remove(secretPathOf(one));
          await delay(1_500);
        }
      });
      return `${one.title}, ${times} times`;
    },
  },
  // As a generator writes it, which knows nothing of finalizers and statuses.
  "regenerate the manifest": {
    weight: 4,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      const spec = structuredClone(one.spec);
      stage.act(one.title, async () => {
        // Deleted before the finalizer is back, it goes unseen.
        stage.model.stripped.add(one.uid ?? "");
        await stage.admin.replace(pathOf(one), {
          apiVersion: "keyplane.dev/v1alpha1",
          kind: "PlatformKey",
          metadata: { name: one.name, namespace: one.namespace },
          spec,
        });
      });
      return one.title;
    },
  },
  "strip the Secret of what marks it as ours": {
    weight: 2,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      changeSecret(stage, one, { metadata: { labels: null, annotations: null, ownerReferences: null } });
      return one.title;
    },
  },
  "give the Secret to another": {
    weight: 2,
    move(stage, random) {
      const one = anyKey(stage, random, ({ namespace, secretName }) => {
        return !stage.model.unmanaged.has(`${namespace}/${secretName}`);
      });
      if (one === undefined) return undefined;
      const value = forgedKey();
      stage.model.planted.add(value);
      one.causes++;
      one.holds++;
      stage.act(one.title, () => stage.admin.remove(secretPathOf(one)));
      stage.plantUnmanaged(one.namespace, one.secretName, { [one.dataKey]: value }, one.title);
      return one.title;
    },
  },
  "make the Secret immutable": {
    weight: 1,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      changeSecret(stage, one, { immutable: true });
      return one.title;
    },
  },
  "declare where another's Secret is": {
    weight: 2,
    move(stage, random) {
      const { model } = stage;
      const [namespace, name] = [random.pick(NAMESPACES), `key-${model.declared.size + model.former.length + 1}`];
      const value = forgedKey();
      model.planted.add(value);
      stage.plantUnmanaged(namespace, name, { "api-key": value });
      return stage.declare(random, namespace, name).title;
    },
  },
  "take another's Secret away": {
    weight: 3,
    move(stage, random) {
      const inTheWay = [...stage.model.unmanaged].filter(([one]) => stage.model.secretNames.has(one));
      const [title = "", inTheNameOf = ""] = random.pickAny(inTheWay) ?? [];
      if (title === "") return undefined;
      const [namespace = "", name] = title.split("/");
      stage.model.unmanaged.delete(title);
      stage.act(inTheNameOf, async () => {
        stage.secrets.release(title);
        await stage.admin.remove(`${secretsPath(namespace)}/${name}`);
      });
      return title;
    },
  },
  "edit the status": {
    weight: 3,
    move(stage, random) {
      const one = anyKey(stage, random);
      if (one === undefined) return undefined;
      const status = random.pick<Record<string, unknown>>([
        { conditions: [] },
        { keyID: "key_forged", keyPrefix: "inf_forged00", team: "none" },
        { observedGeneration: 999, versions: [], currentVersion: 77 },
      ]);
      stage.act(one.title, () => stage.admin.patch(`${pathOf(one)}/status`, { status }));
      return one.title;
    },
  },
  // Rare: more than ten at once would set off the deletion limit.
  "strip the finalizer": {
    weight: 0.6,
    move(stage, random) {
      const one = anyKey(stage, random, ({ spec }) => spec.deletionProtection !== true);
      if (one === undefined) return undefined;
      forget(stage.model, one);
      stage.act(one.title, async () => {
        stage.model.stripped.add(one.uid ?? "");
        await stage.admin.remove(pathOf(one));
        await stage.admin.patch(pathOf(one), { metadata: { finalizers: null } });
      });
      return one.title;
    },
  },
  "move a namespace": {
    weight: 2,
    move(stage, random) {
      const { model } = stage;
      const namespace = random.pick(NAMESPACES);
      const from = teamOf(model, namespace);
      const to = random.pickAny([...TEAMS.filter((team) => team !== from), undefined]);
      if (from === to) return undefined;
      // Those that were ordered to go may still be there.
      for (const one of everDeclared(model)) {
        if (one.namespace !== namespace) continue;
        one.moved = true;
        one.causes++;
      }
      if (from !== undefined) model.teams.get(from)?.delete(namespace);
      if (to !== undefined) model.teams.get(to)?.add(namespace);
      if (from !== undefined) stage.applyTeam(from);
      if (to !== undefined) stage.applyTeam(to);
      return `${namespace} from ${from ?? "no team"} to ${to ?? "no team"}`;
    },
  },
  "delete a namespace and make it again": {
    weight: 0.5,
    move: (stage, random) => deleteNamespace(stage, random, (remove) => remove()),
  },
  "delete a namespace while no controller runs": {
    weight: 0.5,
    move: (stage, random) =>
      deleteNamespace(stage, random, async (remove) => {
        const { controllers } = stage.world;
        await Promise.all(controllers.map((one) => one.down("SIGKILL")));
        await remove();
        // All but what our finalizer holds goes meanwhile, the Role among it.
        await delay(5_000);
        for (const one of controllers) one.up();
      }),
  },
};

/** @param how the removal is carried out */
function deleteNamespace(
  stage: Stage,
  random: Random,
  how: (remove: () => Promise<void>) => Promise<void>,
): string | undefined {
  const { model, admin, secrets } = stage;
  const namespace = random.pick(NAMESPACES);
  const own = [...model.declared.values()].filter((one) => one.namespace === namespace);
  for (const one of own) {
    if (one.spec.deletionProtection === true) edit(stage, one, { deletionProtection: false });
    forget(model, one);
  }
  for (const title of model.unmanaged.keys()) if (title.startsWith(`${namespace}/`)) model.unmanaged.delete(title);
  stage.act(namespace, async () => {
    secrets.release(namespace);
    await how(() => admin.remove(`/api/v1/namespaces/${namespace}`));
    await stage.furnish(namespace);
  });
  redeclareSome(stage, random, own);
  return namespace;
}

/** Declares most of those again that are to go; a protected one stays. */
function redeclareSome(stage: Stage, random: Random, deleted: readonly ModelDeclaration[]): void {
  for (const { title, namespace, name } of deleted) {
    if (!stage.model.declared.has(title) && random.chance(0.7)) stage.declare(random, namespace, name);
  }
}

const PATIENCE_MS = 60_000;

/** Repeats a question to the database while that is away. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(500);
    }
  }
}

/** What a person does by the management API: on the key that a declaration has at that moment, if it has one. */
function byHand(stage: Stage, one: ModelDeclaration, act: (tx: Tx, keyId: string) => Promise<void>): void {
  const { store, clusterUid } = stage.world;
  stage.act(one.title, async () => {
    const key = await patiently(() => findKeyByOwner(store.db, clusterUid, one.uid ?? ""));
    if (key !== undefined) await patiently(() => change(store, null, (tx) => act(tx, key.id)));
    else if (one.revokedByHand) one.revokedByHand = false;
  });
}
