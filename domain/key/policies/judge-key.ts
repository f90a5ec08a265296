/** Violations of team policies by a declared key: the one place that decides this (docs/decisions/key-policies.md). */
import { UNDECLARED_CONCURRENT } from "../../access/rate-limit.ts";
import { PRESETS } from "../../access/scopes.ts";
import { isNetworkWithin } from "../../access/source-addresses.ts";
import { budgetSize } from "../../budget/budget.ts";
import { mostOf, sizeToWrite } from "../../budget/budget-size.ts";
import { durationText } from "../../duration.ts";
import { nameSome } from "../../name-some.ts";
import type { DeclaredKey, NamedRef } from "../declaration/declared-key.ts";
import type { KeyPolicy } from "../declaration/key-policy.ts";
import type { KeyNumbers } from "../stored/stored-key.ts";
import { refusingOf } from "./bound-budgets.ts";
import type { DeclaredPolicy } from "./declared-policy.ts";
import { gatewayStep, gatewayText, listStep, MAX_NAMED, presetStep, scopesStep } from "./list-steps.ts";
import type { RuleName } from "./rules-in-force.ts";

/** Lists of a key that policies bound. */
type KeyLists = Pick<KeyPolicy, "scopes" | "allowedModels" | "allowedCIDRs">;

/** Part of a declared key that policies look at. */
export type JudgedKey = KeyLists &
  KeyNumbers &
  Pick<DeclaredKey, "gatewayRef" | "expiresAfter" | "expiresAt" | "rotationInterval">;

/** Facts on which policies depend besides the declaration. */
export type KeyFacts = {
  /** Time of the mint of the key's version; for a new key the time of the judgement. Milliseconds since the epoch. */
  readonly bornAt: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Number of keys of its team that are not revoked and come before it; null if no rule asks. */
  readonly keysBefore: number | null;
};

/** A violation of one policy rule by a key. */
export type Violation = {
  /** The PlatformKeyPolicy's name. */
  readonly policy: string;
  readonly rule: RuleName;
  /** Path of the key's field. */
  readonly field: string;
  /** Description of the fault. */
  readonly what: string;
  /** Instruction what to write instead. */
  readonly step: string;
  /** Fault and instruction in one sentence. */
  readonly message: string;
  /** Values of the field that the rule refuses; {@link ANYTHING} if the field allows anything. */
  readonly values: readonly string[];
};

/** Placeholder for the unlimited rights of a key whose declaration names nothing. */
export const ANYTHING = "*";

/** Placeholder for a bound gateway that no longer exists: the key may call no gateway, which no policy refuses. */
export const GONE_GATEWAY: NamedRef = { namespace: "", name: "" };

type Check = (
  key: JudgedKey,
  policy: DeclaredPolicy,
  facts: KeyFacts,
  policies: readonly DeclaredPolicy[],
) => Omit<Violation, "policy" | "rule" | "message"> | undefined;

/**
 * Judges a key by all of its team's policies.
 *
 * @param key as it is declared, with the policies' defaults for what it does not declare (`withPolicyDefaults`)
 */
export function judgeKey(key: JudgedKey, policies: readonly DeclaredPolicy[], facts: KeyFacts): Violation[] {
  return policies.flatMap((policy) =>
    CHECKS.flatMap(([rule, check]) => {
      const found = check(key, policy, facts, policies);
      if (found === undefined) return [];
      return [{ ...found, policy: policy.name, rule, message: `${found.what}: ${found.step}` }];
    }),
  );
}

/** Formats a violation as one sentence. */
export function violationText({ policy, field, message }: Violation): string {
  return `${field}: ${message} (PlatformKeyPolicy ${policy}).`;
}

const hasEnd: Check = ({ expiresAfter, expiresAt }, { expiryRequired }) => {
  if (!expiryRequired || expiresAfter !== null || expiresAt !== null) return undefined;
  return {
    ...{ field: "spec.expiresAfter", values: [] },
    ...{ what: "a key must have an end", step: "write expiresAfter or expiresAt" },
  };
};

const endsInTime: Check = (key, { expiry: { max } }, facts) => {
  if (max === null || lifeOf(key, facts) <= max) return undefined;
  const field = key.expiresAt === null ? "spec.expiresAfter" : "spec.expiresAt";
  const isOlder = facts.now - facts.bornAt > max;
  const rotate = isOlder ? ", and change rotation.trigger for a new one, since the one in use is older" : "";
  const step =
    key.expiresAt === null
      ? `write at most ${durationText(max)}${rotate}`
      : "write an earlier time, or rotate the key first";
  return { field, what: `a version lives for at most ${durationText(max)}`, step, values: [] };
};

const rotatesInTime: Check = (key, { maxInterval }, facts) => {
  const { rotationInterval } = key;
  if (maxInterval === null || lifeOf(key, facts) <= maxInterval) return undefined;
  if (rotationInterval !== null && rotationInterval <= maxInterval) return undefined;
  const what = `a key has a new version at least every ${durationText(maxInterval)}`;
  return { field: "spec.rotation.interval", what, step: "write at most that, or an end within it", values: [] };
};

const hasAllowedScopes: Check = ({ scopes }, { allowedScopes }, _, policies) => {
  const values = allowedScopes === null ? [] : scopes.filter((scope) => !allowedScopes.includes(scope));
  if (allowedScopes === null || values.length === 0) return undefined;
  const what = `${values.join(", ")} may not be given`;
  return { field: "spec.scopes", what, step: scopesStep(policies), values };
};

const fitsPreset: Check = ({ scopes }, { allowedPresets }, _, policies) => {
  const fits = (preset: readonly string[]) => scopes.every((scope) => preset.includes(scope));
  if (allowedPresets === null || allowedPresets.some((preset) => fits(PRESETS[preset]))) return undefined;
  const what = "the scopes are within no preset that may be given";
  return { field: "spec.preset", what, step: presetStep(policies, allowedPresets), values: scopes };
};

const namesAllowedModels: Check = (key, { allowedModels: allowed }, _, policies) => {
  if (allowed === null || !hasGatewayScope(key)) return undefined;
  const values = key.allowedModels?.filter((model) => !allowed.includes(model)) ?? [ANYTHING];
  if (values.length === 0) return undefined;
  const what =
    key.allowedModels === null ? "any model may be named" : `${nameSome(values, MAX_NAMED)} may not be named`;
  return { field: "spec.allowedModels", what, step: listStep(policies, "allowedModels", "write none but"), values };
};

const isBoundToAllowed: Check = (key, { allowedGateways: allowed }, _, policies) => {
  const ref = key.gatewayRef;
  if (allowed === null || !hasGatewayScope(key) || ref?.name === GONE_GATEWAY.name) return undefined;
  if (allowed.some(({ namespace, name }) => ref?.namespace === namespace && ref.name === name)) return undefined;
  const what = ref === null ? "the key may call any gateway of its team" : `it may not call ${gatewayText(ref)}`;
  return {
    field: "spec.gatewayRef",
    what,
    step: gatewayStep(policies),
    values: [ref === null ? ANYTHING : gatewayText(ref)],
  };
};

const isWithinNetworks: Check = ({ allowedCIDRs: own }, { allowedCIDRs: allowed }, _, policies) => {
  if (allowed === null) return undefined;
  const values = own?.filter((network) => !isNetworkWithin(network, allowed)) ?? [ANYTHING];
  if (values.length === 0) return undefined;
  const what = own === null ? "the key may be used from anywhere" : `${nameSome(values, MAX_NAMED)} is not within them`;
  const step = listStep(policies, "allowedCIDRs", "write networks within", isNetworkWithin);
  return { field: "spec.allowedCIDRs", what, step, values };
};

const isSlowEnough: Check = ({ rateLimit }, { requestsPerMinute: { max } }) => {
  if (max === null || (rateLimit !== null && Math.max(rateLimit.requestsPerMinute, rateLimit.burst) <= max)) {
    return undefined;
  }
  const isBurst = rateLimit !== null && rateLimit.requestsPerMinute <= max;
  const field = isBurst ? "spec.rateLimit.burst" : "spec.rateLimit.requestsPerMinute";
  const what = `a key makes at most ${max} requests a minute, and at once`;
  return { field, what, step: `write at most ${max}`, values: [] };
};

const isNarrowEnough: Check = ({ concurrent }, { concurrent: { max } }) => {
  if (max === null || (concurrent ?? UNDECLARED_CONCURRENT) <= max) return undefined;
  const what = `a key has at most ${max} calls under way`;
  return { field: "spec.rateLimit.concurrent", what, step: `write at most ${max}`, values: [] };
};

const usesFewEnough: Check = ({ tokenLimit }, { tokensPerMinute: { max } }) => {
  if (max === null || (tokenLimit !== null && tokenLimit.tokensPerMinute <= max)) return undefined;
  const what = `a key uses at most ${max} tokens a minute`;
  return { field: "spec.rateLimit.tokensPerMinute", what, step: `write at most ${max}`, values: [] };
};

const isWithinBudgets: Check = ({ budgets: own }, { budgets }) => {
  const broken = budgets.find((budget) => {
    const kept = refusingOf(own, budget);
    return kept === undefined || mostOf(kept) > mostOf(budget);
  });
  if (broken === undefined) return undefined;
  const what = `a key has a budget of at most ${budgetSize(broken)}`;
  return { field: "spec.budgets", what, step: `write at most ${sizeToWrite(broken)}`, values: [] };
};

const isWithinMaxKeys: Check = (_, { maxKeys }, { keysBefore }) => {
  if (maxKeys === null || keysBefore === null || keysBefore < maxKeys) return undefined;
  const what = `the team may have ${maxKeys} keys, and has as many before this one`;
  return { field: "metadata.name", what, step: "revoke or delete one of them", values: [] };
};

const CHECKS: readonly (readonly [RuleName, Check])[] = [
  ["expiry.required", hasEnd],
  ["expiry.max", endsInTime],
  ["rotation.maxInterval", rotatesInTime],
  ["allowedScopes", hasAllowedScopes],
  ["allowedPresets", fitsPreset],
  ["allowedModels", namesAllowedModels],
  ["allowedGateways", isBoundToAllowed],
  ["allowedCIDRs", isWithinNetworks],
  ["rateLimit.requestsPerMinute.max", isSlowEnough],
  ["rateLimit.concurrent.max", isNarrowEnough],
  ["rateLimit.tokensPerMinute.max", usesFewEnough],
  ["budgets", isWithinBudgets],
  ["maxKeys", isWithinMaxKeys],
];

/** Returns the lists of a key that policies bound, without its other members. */
export function listsOf({ scopes, allowedModels, allowedCIDRs }: KeyLists): KeyLists {
  return { scopes, allowedModels, allowedCIDRs };
}

/** Returns the longest life of a version, in milliseconds; Infinity without an expiry. */
export function lifeOf({ expiresAfter, expiresAt }: JudgedKey, { bornAt }: KeyFacts): number {
  return Math.min(expiresAfter ?? Number.POSITIVE_INFINITY, (expiresAt ?? Number.POSITIVE_INFINITY) - bornAt);
}

function hasGatewayScope({ scopes }: JudgedKey): boolean {
  return scopes.some((scope) => scope.startsWith("gateway:"));
}
