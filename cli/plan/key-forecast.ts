/**
 * Forecast of what the controller would do with one key: the steps of the same pure `planKey`, each simulated, until
 * nothing is left to do (architecture §2).
 */
import { isDeepStrictEqual } from "node:util";
import { findCondition, type StatedCondition } from "../../domain/conditions.ts";
import { type DeclaredKey, isSecretCollected } from "../../domain/key/declaration/declared-key.ts";
import { declareKey } from "../../domain/key/fields/declare-key.ts";
import { policyOf } from "../../domain/key/fields/key-policies.ts";
import { importHash } from "../../domain/key/observed/import.ts";
import type { Importable, ObservedKey } from "../../domain/key/observed/observed-key.ts";
import { type ActionContext, applyAction } from "../../domain/key/plan/apply-action.ts";
import type { KeyAction } from "../../domain/key/plan/key-action.ts";
import { planKey } from "../../domain/key/plan/plan-key.ts";
import { withPolicyDefaults } from "../../domain/key/policies/policy-defaults.ts";
import { isLiving, numbersOf, type StoredKey } from "../../domain/key/stored/stored-key.ts";
import { versionEnd } from "../../domain/key/stored/version-end.ts";
import { policiesIn, type RuleSince } from "../../domain/manifest/set/manifest-policies.ts";
import type { ManifestWorld, WorldObject } from "../../domain/manifest/set/manifest-world.ts";
import { type KeyObject, secretByStatus, storedKey } from "./key-of-status.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { holdPlanned } from "./planned-policies.ts";

/** Simulated step, and what the store had before it. */
export type ForecastStep = { readonly action: KeyAction; readonly before: StoredKey | undefined };

export type KeyForecast = {
  readonly steps: readonly ForecastStep[];
  /** Key in the store after the last step. */
  readonly stored: StoredKey | undefined;
  /** `Ready` condition in the key's status after the last step. */
  readonly ready: StatedCondition | undefined;
  /** `PolicyViolated` condition; undefined if the key breaks no policy. */
  readonly policy: StatedCondition | undefined;
  /** True if the object goes after the last step. */
  readonly isGone: boolean;
};

export type ForecastInput = {
  /** Declaration of the key; undefined if it is no longer declared. */
  readonly declared: WorldObject<"PlatformKey"> | undefined;
  /** Status object as `up` or the cluster has it; undefined for a new key. */
  readonly object: KeyObject | undefined;
  readonly before: ManifestWorld;
  readonly after: ManifestWorld;
  readonly secrets: KnownSecrets;
  /** Looks up the time from which a rule of a policy holds. */
  readonly since: RuleSince;
  readonly now: number;
  /** True if the declaration makes the object again once a deletion that is under way has ended, as with `up`. */
  readonly isMadeAgain: boolean;
};

/** Upper bound of steps, above what any plan takes. */
const MAX_STEPS = 16;

export function forecastKey(input: ForecastInput): KeyForecast {
  let observed = observe(input);
  const steps: ForecastStep[] = [];
  while (observed !== undefined && steps.length < MAX_STEPS) {
    const { action, conditions } = planKey(observed, input.now);
    const isGone = action.do === "ReleaseFinalizer";
    if (isGone && input.isMadeAgain) {
      observed = observeAgain(input, observed);
      continue;
    }
    if (action.do === "Nothing" || action.do === "Wait" || isGone) {
      const [ready, policy] = (["Ready", "PolicyViolated"] as const).map((type) => findCondition(conditions, type));
      return { steps, stored: observed.stored, ready, policy, isGone };
    }
    steps.push({ action, before: observed.stored });
    observed = take(observed, action, input.now);
  }
  return { steps, stored: observed?.stored, ready: undefined, policy: undefined, isGone: false };
}

/**
 * Returns the key as an up-to-date controller would observe it; undefined if there is neither a declaration nor an
 * object.
 */
function observe(input: ForecastInput): ObservedKey | undefined {
  const { declared, object, after, secrets } = input;
  const spec = declared?.spec ?? object?.spec;
  const named = declared ?? object?.metadata;
  if (spec === undefined || named === undefined) return undefined;
  const { namespace, name } = named;
  const declaredRaw = declareKey(namespace, name, spec);
  const stored = object === undefined ? undefined : heldNow(object, input);
  const { references } = after.resolve(declaredRaw, namespace, stored?.teamId ?? null);
  const { effective: key, verdict } = holdPlanned(
    { named: declared, namespace, spec: object?.spec },
    declaredRaw,
    stored,
    references,
    input,
  );
  const secret = { namespace, name: key.secret.name };
  // Whose a Secret is that a key was written to is in its status.
  const isAnothers =
    secrets.declared.has(`${namespace}/${secret.name}`) ||
    (stored === undefined &&
      (secrets.isThere(secret) === true || after.secretTaker({ namespace, name }, secret.name) !== undefined));
  const changed = declared !== undefined && object?.spec !== undefined && !isDeepStrictEqual(object.spec, spec);
  return {
    uid: object?.metadata.uid ?? "new",
    generation: (stored?.generation ?? object?.status?.observedGeneration ?? 1) + (changed ? 1 : 0),
    deleting: declared === undefined || object?.metadata.deletionTimestamp !== undefined,
    hasFinalizer: true,
    declared: key,
    verdict,
    references,
    stored,
    importable: stored === undefined ? importable(key, declared?.takeOver ?? null) : null,
    secret: isAnothers ? { state: "unmanaged" } : secretByStatus(key, object, stored),
    altered: null,
    namespaceTerminates: false,
    undoneSince: null,
    secretMarks: [],
    held: null,
    confirmed: true,
    restartedVersion: object?.status?.restartedVersion ?? null,
    // What is known of usage is the store's: on paper an old version goes on until its deadline.
    usage: null,
    reportedUse: null,
    steadyFrom: Number.NEGATIVE_INFINITY,
  };
}

/**
 * Returns what is observed once the object is gone and made again: nothing is stored for it, and a secret that was
 * imported is not imported twice. The new key takes a Secret that stayed of a revoked key; another is in its way.
 */
function observeAgain(input: ForecastInput, { secret, stored }: ObservedKey): ObservedKey | undefined {
  const made = observe({ ...input, object: undefined });
  if (made === undefined || secret.state === "absent") return made && { ...made, importable: null };
  const isTaken = secret.state === "ours" && !secret.immutable && stored?.state === "revoked";
  const left = { ...secret, holds: "unknown", owned: false, collected: false } as const;
  return { ...made, importable: null, secret: isTaken ? left : { state: "unmanaged" } };
}

/** Returns the key as it is stored now: its spec, as the present policies limit it. */
function heldNow(object: KeyObject, { before, since, now }: ForecastInput): StoredKey | undefined {
  const stored = storedKey(object, before);
  const { namespace, name } = object.metadata;
  if (stored === undefined || object.spec === undefined) return stored;
  const declared = declareKey(namespace, name, object.spec);
  const { references } = before.resolve(declared, namespace, stored.teamId);
  const named = before.find("PlatformKey", { namespace, name });
  const world = { after: before, since, now };
  const { effective, verdict } = holdPlanned(
    { named, namespace, spec: object.spec },
    declared,
    stored,
    references,
    world,
  );
  // A key whose status says nothing of policies has their defaults already.
  const hasDefaults = findCondition(object.status?.conditions, "PolicyViolated") === undefined;
  const { policies } = policiesIn(before, before.teamOf(namespace), since);
  const held = numbersOf(hasDefaults ? withPolicyDefaults(declared, policies) : effective);
  const { expiresAt } = effective;
  const versions = stored.versions.map((version) =>
    policies.length > 0 && isLiving(version)
      ? { ...version, expiresAt: versionEnd(version, effective.expiresAfter, verdict.keptEnds) }
      : version,
  );
  return { ...stored, versions, policy: { ...stored.policy, ...held, expiresAt } };
}

/** Returns what an import would learn. The secret is not read, and neither is a key that is to be taken over. */
function importable({ source }: DeclaredKey, takeOver: string | null): Importable | null {
  if (takeOver !== null) return { takesOver: takeOver };
  if (source.hash !== undefined) return importHash(source.hash);
  return source.secretRef === undefined ? null : { digest: "", prefix: "" };
}

/** Returns what would be observed after a step. */
function take(observed: ObservedKey, action: KeyAction, now: number): ObservedKey {
  const { secret, declared } = observed;
  const context = contextOf(observed, now);
  const taken = action.do === "TakeOver" ? keyTakenOver(observed, action.keyId, context) : {};
  const after = { ...observed, stored: applyAction(observed.stored, action, { ...context, ...taken }) };
  const owners = { owned: declared.secret.deleteWithKey, collected: isSecretCollected(declared) };
  switch (action.do) {
    case "Reserve":
      return { ...after, held: action.number };
    case "Activate":
      return { ...after, held: null };
    case "Publish":
      return {
        ...after,
        secret: { state: "ours", holds: action.number, rendered: true, ...owners, immutable: false, deleting: false },
      };
    case "Release":
      // The key and its Secret stay, and no declaration owns them from here on.
      return { ...after, stored: undefined, secret: secret.state === "ours" ? { state: "unmanaged" } : secret };
    case "Render":
      return { ...after, secret: secret.state === "ours" ? { ...secret, ...owners, rendered: true } : secret };
    case "DetachSecret":
      return { ...after, secret: secret.state === "ours" ? { ...secret, owned: false, collected: false } : secret };
    case "DeleteSecret":
      return { ...after, secret: { state: "absent" } };
    case "Restart":
      return { ...after, restartedVersion: action.version };
    default:
      return after;
  }
}

/**
 * Returns the key that a take-over stores. The key itself is not looked at: the plan assumes that it is as declared.
 */
function keyTakenOver({ declared, references }: ObservedKey, id: string, context: ActionContext) {
  const { digest, prefix } = context.secret;
  const policy = policyOf(declared, references);
  const taken = applyAction(undefined, { do: "Import", policy, digest, prefix }, context);
  return taken === undefined ? {} : { taken: { ...taken, id } };
}

/**
 * Returns the context in which an action is simulated. A key has the team of its namespace from its first version on.
 * Nothing is minted, so a new version has no prefix.
 */
function contextOf({ uid, generation, declared, references, undoneSince }: ObservedKey, now: number): ActionContext {
  const identity = { id: "", cluster: "", namespace: "", name: "", ownerUid: uid, teamId: references.teamId ?? "" };
  return { now, generation, declared, identity, secret: { digest: "", prefix: "" }, undoneSince };
}
