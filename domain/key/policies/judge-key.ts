/** What a declared key breaks of its team's policies: the one place that decides it (docs/decisions/key-policies.md). */
import { UNDECLARED_CONCURRENT } from "../../access/rate-limit.ts";
import { PRESETS } from "../../access/scopes.ts";
import { isNetworkWithin } from "../../access/source-addresses.ts";
import { budgetSize } from "../../budget/budget.ts";
import { mostOf, sizeToWrite } from "../../budget/budget-size.ts";
import { durationText } from "../../duration.ts";
import { nameSome } from "../../name-some.ts";
import type { DeclaredKey, NamedRef } from "../declaration/declared-key.ts";
import { refusingOf } from "./bound-budgets.ts";
import type { DeclaredPolicy } from "./declared-policy.ts";
import { gatewayStep, gatewayText, MAX_NAMED, modelsStep, networksStep, presetStep, scopesStep } from "./list-steps.ts";
import type { RuleName } from "./rules-in-force.ts";

/** What policies look at. */
export type JudgedKey = Pick<
  DeclaredKey,
  | "scopes"
  | "gatewayRef"
  | "allowedModels"
  | "expiresAfter"
  | "expiresAt"
  | "rotationInterval"
  | "rateLimit"
  | "tokenLimit"
  | "concurrent"
  | "budgets"
  | "allowedCIDRs"
>;

/** What else counts. */
export type KeyFacts = {
  /** When the key's version was minted; of a new key the moment that it is judged at. Milliseconds since the epoch. */
  readonly bornAt: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How many keys its team has that are not revoked and come before it; null where no rule asks. */
  readonly keysBefore: number | null;
};

/** A rule that a key breaks. */
export type Violation = {
  /** The PlatformKeyPolicy's name. */
  readonly policy: string;
  readonly rule: RuleName;
  /** The key's field. */
  readonly field: string;
  /** What is wrong. */
  readonly what: string;
  /** What to write instead. */
  readonly step: string;
  /** Both. */
  readonly message: string;
  /** What of the field the rule does not let through; {@link ANYTHING} where the field lets anything through. */
  readonly values: readonly string[];
};

/** Stands for what a key may do where its declaration names nothing. */
export const ANYTHING = "*";

/** Stands for a gateway that a key is bound to and that is gone: it may call none, which no policy minds. */
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
 * @param key as it is declared, with the policies' defaults where it declares nothing (`withPolicyDefaults`)
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

/** A violation as one sentence. */
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
  return { field: "spec.allowedModels", what, step: modelsStep(policies), values };
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
  return { field: "spec.allowedCIDRs", what, step: networksStep(policies), values };
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

const hasPlace: Check = (_, { maxKeys }, { keysBefore }) => {
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
  ["maxKeys", hasPlace],
];

/** The longest that a version may live, in milliseconds; Infinity without an end. */
export function lifeOf({ expiresAfter, expiresAt }: JudgedKey, { bornAt }: KeyFacts): number {
  return Math.min(expiresAfter ?? Number.POSITIVE_INFINITY, (expiresAt ?? Number.POSITIVE_INFINITY) - bornAt);
}

function hasGatewayScope({ scopes }: JudgedKey): boolean {
  return scopes.some((scope) => scope.startsWith("gateway:"));
}
