/** Planned changes of each object, and their texts. */

import { titleOf } from "../../controller/cluster/titles.ts";
import { findCondition, type StatedCondition } from "../../domain/conditions.ts";
import { isOfField, policyDifferences } from "../../domain/key/fields/key-policies.ts";
import type { MintReason } from "../../domain/key/issuance/issuance-policy.ts";
import type { KeyAction } from "../../domain/key/plan/key-action.ts";
import { liveTrafficText } from "../../domain/key/stored/live-traffic.ts";
import { type RevocationReason, type StoredKey, versionIn } from "../../domain/key/stored/stored-key.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";
import { quote } from "../../domain/manifest/document/diagnostic.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "../../domain/manifest/set/manifest-world.ts";
import { unservedModels } from "../../domain/manifest/set/unserved-models.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { declaredChanges, type FieldChange, policyChanges } from "./field-changes.ts";
import type { ForecastInput, ForecastStep, KeyForecast } from "./key-forecast.ts";
import { type CallersLookup, refusedCallers } from "./refused-callers.ts";

/** Texts for the reason why a new version is minted. */
const WHY: Readonly<Record<MintReason, string>> = {
  FirstVersion: "none was delivered yet",
  RequestedByHand: "asked for by hand",
  TriggerChanged: "spec.rotation.trigger changes",
  IntervalPassed: "spec.rotation.interval has passed",
  SecretLost: "its Secret is gone",
  SecretTampered: "its Secret was edited",
};

/** Texts for the reason why a key that stays declared is revoked. */
const ENDS: { readonly [reason in RevocationReason]?: string } = {
  Declared: ", as declared",
  Moved: ", since its namespace goes to another team",
  Deleted: ", since its deletion goes on",
};

/**
 * Looks up when a key was last used, by its id: null for never, undefined if no server that knows the key was asked.
 */
export type LastUseLookup = (keyId: string) => number | null | undefined;

/** Look-ups by key id that a server answers, if there is one. */
export type KeyLookups = {
  readonly lastUsedAt: LastUseLookup;
  readonly callersOf: CallersLookup;
};

/**
 * Single change of an object: `+` created, `~` changed, `-` removed, `!` cannot become as declared or is to be looked
 * at.
 */
export type PlannedChange = {
  readonly sign: "+" | "~" | "-" | "!";
  /** Complete description of the change. */
  readonly text: string;
  /** Field that changes, if the change is of a single field. */
  readonly change?: FieldChange;
  /** True if everything becomes as declared, and a person should look at it nevertheless. */
  readonly isWarning?: boolean;
};

/** Object that a plan reports something about. */
export type PlannedObject = {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  /** Action on the object; `none` if it stays as it is and only changes of other objects affect it. */
  readonly action: "create" | "change" | "delete" | "none";
  readonly changes: readonly PlannedChange[];
};

/** Key of the plan, with all that its changes are described from. */
type PlannedKey = {
  readonly title: string;
  readonly input: ForecastInput;
  readonly steps: readonly ForecastStep[];
  readonly lookups: KeyLookups;
};

/** Returns the key with its changes; empty if nothing happens to it. */
export function plannedKey(
  input: ForecastInput,
  { steps, stored, ready, policy, isGone }: KeyForecast,
  lookups: KeyLookups,
): PlannedObject[] {
  const { declared, object, before: was, after } = input;
  const named = declared ?? object?.metadata;
  if (named === undefined) return [];
  const { namespace, name } = named;
  const title = titleOf({ kind: "PlatformKey", namespace, name });
  const ofKey = steps.flatMap((step) => stepChanges({ title, input, steps, lookups }, step));
  const changes = [...declaredLines(title, input, steps), ...ofKey];
  const goes = declared === undefined || isGone;
  if (goes && !changes.some(({ sign }) => sign === "-"))
    changes.push({ sign: "-", text: `delete ${title}${keyLoss(object, stored)}` });
  const begins = steps.some(({ action }) => isBeginning(action));
  if (object === undefined && !begins) changes.push({ sign: "+", text: `create ${title}: no key is minted yet` });
  const before = findCondition(object?.status?.conditions, "Ready");
  const isNews = ready !== undefined && (ready.reason !== before?.reason || object === undefined);
  const isAction = changes.length > 0;
  if (isNews && ready.reason !== "Deleting") changes.push(...notReady(title, ready));
  changes.push(...brokenPolicies(title, policy, object));
  const warnings = refusedCallers(title, input, lookups.callersOf);
  changes.push(...warnings.map((text) => ({ sign: "!", text, isWarning: true }) as const));
  if (declared !== undefined) changes.push(...vainModels(declared, after, was));
  if (changes.length === 0) return [];
  const action = goes ? "delete" : object === undefined ? "create" : isAction ? "change" : "none";
  return [{ kind: "PlatformKey", namespace, name, action, changes }];
}

/**
 * Returns the declared fields that change, whether or not a step applies them, except those whose effect a line on the
 * key's policy shows. A key that is revoked as declared has no other change.
 */
function declaredLines(
  title: string,
  { declared, object }: ForecastInput,
  steps: readonly ForecastStep[],
): PlannedChange[] {
  if (declared === undefined || object?.spec === undefined) return [];
  if (steps.some(({ action }) => action.do === "Revoke" && action.reason === "Declared")) return [];
  const shown = steps.flatMap(({ action, before }) =>
    action.do === "UpdatePolicy" && before !== undefined ? policyDifferences(before.policy, action.policy) : [],
  );
  return declaredChanges({ spec: object.spec, labels: object.metadata.labels }, declared)
    .filter(({ field }) => !shown.some(({ path }) => isOfField(field, path)))
    .map((change) => update(title, change));
}

/** Returns what becomes of the key of a declaration that goes without a step. */
function keyLoss(object: ForecastInput["object"], stored: StoredKey | undefined): string {
  if (stored?.state === "revoked") return ": its key is revoked already";
  if (stored !== undefined) return ": its key works on";
  return `: any key issued for it ${object?.spec?.deletionPolicy === "Retain" ? "works on" : "ends"}`;
}

/** Returns the policies that a key begins to break, if its status does not say so already. */
function brokenPolicies(
  title: string,
  policy: StatedCondition | undefined,
  object: ForecastInput["object"],
): PlannedChange[] {
  const before = findCondition(object?.status?.conditions, "PolicyViolated");
  if (policy === undefined || object === undefined || before?.message === policy.message) return [];
  return [{ sign: "!", text: `${title} breaks a policy: ${policy.message}` }];
}

/** Returns why an object will not be ready; empty if it will be. */
export function notReady(title: string, { status, reason, message }: StatedCondition): PlannedChange[] {
  return status === "True" ? [] : [{ sign: "!", text: `${title} will not be ready: ${reason}: ${message}` }];
}

/**
 * Returns the models that an object names and its gateway does not serve, except those to which that applied before.
 */
export function vainModels(object: WorldObject, after: ManifestWorld, before: ManifestWorld): PlannedChange[] {
  const known = new Set(unservedModels(before.find(object.kind, object) ?? object, before).map(({ model }) => model));
  return unservedModels(object, after)
    .filter(({ model }) => !known.has(model))
    .map(({ model, gateway }) => {
      const text = `${titleOf(object)} names model ${quote(model)}, of which ${titleOf(gateway)} has no route, and it serves its routes alone`;
      return { sign: "!", text };
    });
}

/** True if the action gives a declaration its key. */
function isBeginning(action: KeyAction): boolean {
  return action.do === "Reserve" ? action.newKey : action.do === "Import" || action.do === "TakeOver";
}

function stepChanges(key: PlannedKey, { action, before }: ForecastStep): PlannedChange[] {
  const { title, lookups } = key;
  const { declared, object, now } = key.input;
  const secret = `Secret ${(declared ?? object?.metadata)?.namespace}/${secretName(declared, object)}`;
  switch (action.do) {
    case "Reserve":
      if (!action.newKey) return [];
      return [{ sign: "+", text: `create ${title}: ${action.policy.scopes.join(", ")}, in ${secret}` }];
    case "TakeOver": {
      const text = `take over key ${action.keyId} as ${title}: the same secret, declared from here on`;
      return [{ sign: "+", text }];
    }
    case "Import":
      return [{ sign: "+", text: `import ${title}: ${action.policy.scopes.join(", ")}` }];
    case "Activate":
      return rotationChanges(key, action, before);
    case "UpdatePolicy":
      return before === undefined
        ? []
        : policyChanges(before.policy, action.policy).map((change) => update(title, change));
    case "Render":
      return [{ sign: "~", text: `render ${secret} again, with the same key` }];
    case "Restart": {
      const targets = declared?.spec.restartTargets ?? [];
      return targets.map(({ kind, name }) => ({ sign: "~", text: `restart ${kind} ${name} of ${title}` }));
    }
    case "Revoke": {
      const why = (declared && ENDS[action.reason]) ?? "";
      return [{ sign: "-", text: `revoke ${title}${prefixOf(before)}${why}: ${use(before, lookups, now)}` }];
    }
    case "Release": {
      const text = `release ${title}${prefixOf(before)}: it works on, and no declaration governs it`;
      return [{ sign: "-", text }];
    }
    case "DeleteSecret":
      return [{ sign: "-", text: `delete ${secret}` }];
    default:
      return [];
  }
}

function rotationChanges(
  { title, steps, input: { now } }: PlannedKey,
  { number, retireOldAt }: Extract<KeyAction, { do: "Activate" }>,
  before: StoredKey | undefined,
): PlannedChange[] {
  const old = versionIn(before, "active");
  const why = steps.map(({ action }) => action).find((action) => action.do === "Reserve")?.why;
  if (old === undefined) return [];
  const end = retireOldAt > now ? `works until ${rfc3339(retireOldAt)}` : "ends at once";
  const since = why === undefined ? "" : `, since ${WHY[why]}`;
  const text = `rotate ${title}: version ${number}${since}; version ${old.number}${shownPrefix(old.prefix)} ${end}`;
  return [{ sign: "~", text }];
}

function update(title: string, change: FieldChange): PlannedChange {
  return { sign: "~", text: `update ${title}: ${change.field}: ${change.before} -> ${change.after}`, change };
}

/**
 * Returns all objects other than keys that are created, changed or deleted, or cannot become as declared.
 *
 * @param heldUp returns what keeps an object of the final state from being as declared
 */
export function plannedOthers(
  before: readonly WorldObject[],
  after: readonly WorldObject[],
  heldUp: (object: WorldObject) => readonly PlannedChange[],
): PlannedObject[] {
  const others = (objects: readonly WorldObject[]) =>
    new Map(objects.filter(({ kind }) => kind !== "PlatformKey").map((object) => [titleOf(object), object]));
  const [was, is] = [others(before), others(after)];
  const come = [...is]
    .filter(([title]) => !was.has(title))
    .map(([title, object]) => planned(object, "create", [{ sign: "+", text: `create ${title}` }, ...heldUp(object)]));
  const stay = [...is].flatMap(([title, object]) => {
    const old = was.get(title);
    if (old === undefined) return [];
    const changes = declaredChanges(old, object).map((change) => update(title, change));
    const all = [...changes, ...heldUp(object)];
    return all.length === 0 ? [] : [planned(object, changes.length === 0 ? "none" : "change", all)];
  });
  const go = [...was]
    .filter(([title]) => !is.has(title))
    .map(([title, object]) => planned(object, "delete", [{ sign: "-", text: `delete ${title}${loss(object)}` }]));
  return [...come, ...stay, ...go];
}

function planned(
  { kind, namespace, name }: WorldObject,
  action: PlannedObject["action"],
  changes: readonly PlannedChange[],
): PlannedObject {
  return { kind, namespace, name, action, changes };
}

function loss(object: WorldObject): string {
  if (isOfKind(object, "MemoryLibrary")) {
    return object.spec.deletionPolicy === "Delete" ? ": its atoms are deleted" : ": its atoms stay";
  }
  if (isOfKind(object, "ModelGateway")) return ": calls to it are refused";
  if (isOfKind(object, "PlatformKeyPolicy")) return ": what it asks of keys is asked no more";
  return ": the keys of its namespaces are refused";
}

function secretName(declared: WorldObject<"PlatformKey"> | undefined, object: ForecastInput["object"]): string {
  return declared?.spec.secret.name ?? object?.status?.secretRef?.name ?? declared?.name ?? object?.metadata.name ?? "";
}

function prefixOf(key: StoredKey | undefined): string {
  return shownPrefix((versionIn(key, "active") ?? key?.versions[0])?.prefix ?? "");
}

/** Returns the prefix of a key in parentheses; empty in a simulated key, which has no prefix. */
function shownPrefix(prefix: string): string {
  return prefix === "" ? "" : ` (${prefix}...)`;
}

/**
 * Describes the live traffic that would be cut. The status records the last use once a day; a running server has it
 * more precisely.
 */
function use(key: StoredKey | undefined, { lastUsedAt, callersOf }: KeyLookups, now: number): string {
  const id = key?.id ?? "";
  const asked = lastUsedAt(id);
  const noted = key?.versions.map((version) => version.lastUsedAt ?? 0) ?? [];
  const last = Math.max(asked ?? 0, ...noted);
  const callers = callersOf(id) ?? "unknown";
  const traffic = { lastUsedAt: last === 0 ? asked : last, callers: callers === "unknown" ? [] : callers };
  return liveTrafficText(traffic, now);
}
