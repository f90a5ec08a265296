/** How a plan is shown: `+` for what comes, `~` for what changes, `-` for what goes, `!` for what will not be. */

import { titleOf } from "../../controller/cluster/titles.ts";
import { findCondition } from "../../domain/conditions.ts";
import type { MintReason } from "../../domain/key/issuance-policy.ts";
import type { KeyAction } from "../../domain/key/plan-key.ts";
import { type RevocationReason, type StoredKey, versionIn } from "../../domain/key/stored-key.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { changedFields, policyDifferences } from "./key-difference.ts";
import type { ForecastInput, ForecastStep, KeyForecast } from "./key-forecast.ts";
import { type Declared, isOfKind } from "./plan-world.ts";

/** Why a new version is minted, for whoever reads the plan. */
const WHY: Readonly<Record<MintReason, string>> = {
  FirstVersion: "none was delivered yet",
  RequestedByHand: "asked for by hand",
  TriggerChanged: "spec.rotation.trigger changes",
  IntervalPassed: "spec.rotation.interval has passed",
  SecretLost: "its Secret is gone",
  SecretTampered: "its Secret was edited",
};

/** Why a key that stays declared is revoked all the same. */
const ENDS: { readonly [reason in RevocationReason]?: string } = {
  Declared: ", as declared",
  Moved: ", since its namespace goes to another team",
};

/** The spec's fields that a policy's difference shows already. */
const SHOWN = new Set(
  "displayName preset scopes gatewayRef libraryAccess mcpDefaultLibraryRef allowedModels state expiresAt rateLimit".split(
    " ",
  ),
);

/** When a key was last used, by its id: null for never, undefined where nobody who knows was there to ask. */
type LastUseLookup = (keyId: string) => number | null | undefined;

/** A key of the plan, and all that its lines are made of. */
type PlannedKey = {
  readonly title: string;
  readonly input: ForecastInput;
  readonly steps: readonly ForecastStep[];
  readonly lastUsedAt: LastUseLookup;
};

/** The lines of one key. */
export function keyLines(input: ForecastInput, { steps, ready }: KeyForecast, lastUsedAt: LastUseLookup): string[] {
  const { declared, object } = input;
  const named = declared ?? (object && { kind: "PlatformKey" as const, ...object.metadata });
  if (named === undefined) return [];
  const title = titleOf(named);
  const lines = steps.flatMap((step) => stepLines({ title, input, steps, lastUsedAt }, step));
  const begins = steps.some(({ action }) => isBeginning(action));
  if (object === undefined && !begins) lines.push(`+ create ${title}: no key is minted yet`);
  const before = findCondition(object?.status?.conditions, "Ready");
  const isNews = ready !== undefined && ready.status !== "True" && ready.reason !== "Deleting";
  if (isNews && (ready.reason !== before?.reason || object === undefined)) {
    lines.push(`! ${title} will not be ready: ${ready.reason}: ${ready.message}`);
  }
  return lines;
}

/** Whether a declaration comes to have a key by it. */
function isBeginning(action: KeyAction): boolean {
  return action.do === "Reserve" ? action.newKey : action.do === "Import" || action.do === "TakeOver";
}

function stepLines(key: PlannedKey, { action, before }: ForecastStep): string[] {
  const { title, lastUsedAt } = key;
  const { declared, object, now } = key.input;
  const secret = `Secret ${(declared ?? object?.metadata)?.namespace}/${secretName(declared, object)}`;
  switch (action.do) {
    case "Reserve":
      return action.newKey ? [`+ create ${title}: ${action.policy.scopes.join(", ")}, in ${secret}`] : [];
    case "TakeOver":
      return [`+ take over key ${action.keyId} as ${title}: the same secret, declared from here on`];
    case "Import":
      return [`+ import ${title}: ${action.policy.scopes.join(", ")}`];
    case "Activate":
      return rotationLines(key, action, before);
    case "UpdatePolicy":
      return updateLines(key, action, before);
    case "Render":
      return [`~ render ${secret} again, with the same key`];
    case "Restart":
      return (declared?.spec.restartTargets ?? []).map(({ kind, name }) => `~ restart ${kind} ${name} of ${title}`);
    case "Revoke":
      return [`- revoke ${title}${prefixOf(before)}${ENDS[action.reason] ?? ""}: ${use(before, lastUsedAt, now)}`];
    case "Release":
      return [`- release ${title}${prefixOf(before)}: it works on, and no declaration governs it`];
    case "DeleteSecret":
      return [`- delete ${secret}`];
    default:
      return [];
  }
}

function rotationLines(
  { title, steps, input: { now } }: PlannedKey,
  { number, retireOldAt }: Extract<KeyAction, { do: "Activate" }>,
  before: StoredKey | undefined,
): string[] {
  const old = versionIn(before, "active");
  const why = steps.map(({ action }) => action).find((action) => action.do === "Reserve")?.why;
  if (old === undefined) return [];
  const end = retireOldAt > now ? `works until ${rfc3339(retireOldAt)}` : "ends at once";
  return [
    `~ rotate ${title}: version ${number}${why === undefined ? "" : `, since ${WHY[why]}`}; version ${old.number} (${old.prefix}...) ${end}`,
  ];
}

function updateLines(
  { title, input: { declared, object } }: PlannedKey,
  { policy }: Extract<KeyAction, { do: "UpdatePolicy" }>,
  before: StoredKey | undefined,
): string[] {
  const differences = before === undefined ? [] : policyDifferences(before.policy, policy);
  const others = changedFields(object?.spec ?? {}, declared?.spec ?? {}).filter((field) => !SHOWN.has(field));
  if (declared !== undefined && others.length > 0) differences.push(`spec.${others.join(", spec.")}`);
  return differences.map((difference) => `~ update ${title}: ${difference}`);
}

/** The lines of everything that is no key: one for each that comes, changes or goes. */
export function objectLines(before: readonly Declared[], after: readonly Declared[]): string[] {
  const others = (objects: readonly Declared[]) =>
    new Map(objects.filter(({ kind }) => kind !== "PlatformKey").map((object) => [titleOf(object), object]));
  const [was, is] = [others(before), others(after)];
  const come = [...is.keys()].filter((title) => !was.has(title)).map((title) => `+ create ${title}`);
  const change = [...is].flatMap(([title, { spec }]) => {
    const fields = changedFields(was.get(title)?.spec ?? spec, spec);
    return fields.length === 0 ? [] : [`~ update ${title}: spec.${fields.join(", spec.")}`];
  });
  const go = [...was].filter(([title]) => !is.has(title)).map(([title, object]) => `- delete ${title}${loss(object)}`);
  return [...come, ...change, ...go];
}

function loss(object: Declared): string {
  if (isOfKind(object, "MemoryLibrary")) {
    return object.spec.deletionPolicy === "Delete" ? ": its atoms are deleted" : ": its atoms stay";
  }
  if (isOfKind(object, "ModelGateway")) return ": calls to it are refused";
  return ": the keys of its namespaces are refused";
}

function secretName(declared: Declared<"PlatformKey"> | undefined, object: ForecastInput["object"]): string {
  return declared?.spec.secret.name ?? object?.status?.secretRef?.name ?? declared?.name ?? object?.metadata.name ?? "";
}

function prefixOf(key: StoredKey | undefined): string {
  const prefix = (versionIn(key, "active") ?? key?.versions[0])?.prefix;
  return prefix ? ` (${prefix}...)` : "";
}

const MINUTE = 60_000;
const SPANS: readonly (readonly [unit: string, length: number])[] = [
  ["day", 24 * 60 * MINUTE],
  ["hour", 60 * MINUTE],
  ["minute", MINUTE],
];

/** The live traffic that would be cut. The status has the last use once a day; a server that runs has it finer. */
function use(key: StoredKey | undefined, lastUsedAt: LastUseLookup, now: number): string {
  const asked = lastUsedAt(key?.id ?? "");
  const last = Math.max(asked ?? 0, ...(key?.versions.map((version) => version.lastUsedAt ?? 0) ?? []));
  if (last === 0)
    return asked === null ? "never used" : "no use of it is known; keyplane up would know, and does not run";
  const [unit, length] = SPANS.find(([, span]) => now - last >= span) ?? ["", 0];
  const count = Math.floor((now - last) / (length || 1));
  const ago = length === 0 ? "less than a minute" : `${count} ${unit}${count === 1 ? "" : "s"}`;
  return `last used ${ago} ago, at ${rfc3339(last)}`;
}
