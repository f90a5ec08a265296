import type { Preset, Scope } from "../../access/scopes.ts";
import type { Budget } from "../../budget/budget.ts";
import { parseDuration } from "../../duration.ts";
import type { PlatformKeyPolicySpec } from "../../kinds/generated/platform-key-policy.ts";
import type { NamedRef } from "../declaration/declared-key.ts";
import { declarePolicyBudgets } from "./bound-budgets.ts";

/** Default and maximum of a number; null for none. */
export type Bounds = { readonly default: number | null; readonly max: number | null };

/** A PlatformKeyPolicy's rules with every text parsed. Durations are milliseconds; null if a rule is not set. */
export type DeclaredPolicy = {
  readonly name: string;
  readonly gracePeriod: number;
  readonly expiryRequired: boolean;
  /** Bounds of a version's life. */
  readonly expiry: Bounds;
  readonly maxInterval: number | null;
  readonly allowedScopes: readonly Scope[] | null;
  readonly allowedPresets: readonly Preset[] | null;
  readonly allowedModels: readonly string[] | null;
  readonly allowedGateways: readonly NamedRef[] | null;
  readonly allowedCIDRs: readonly string[] | null;
  readonly maxKeys: number | null;
  readonly requestsPerMinute: Bounds;
  readonly concurrent: Bounds;
  readonly tokensPerMinute: Bounds;
  /** Budgets that refuse calls, one for each unit and period; empty if the policy asks for none. */
  readonly budgets: readonly Budget[];
};

/** Parses a valid spec. */
export function declarePolicy(name: string, spec: PlatformKeyPolicySpec): DeclaredPolicy {
  const { expiry, rotation, rateLimit } = spec;
  return {
    name,
    gracePeriod: parseDuration(spec.gracePeriod),
    expiryRequired: expiry?.required ?? false,
    expiry: { default: durationOf(expiry?.default), max: durationOf(expiry?.max) },
    maxInterval: durationOf(rotation?.maxInterval),
    allowedScopes: spec.allowedScopes ?? null,
    allowedPresets: spec.allowedPresets ?? null,
    allowedModels: spec.allowedModels ?? null,
    allowedGateways: spec.allowedGateways ?? null,
    allowedCIDRs: spec.allowedCIDRs ?? null,
    maxKeys: spec.maxKeys ?? null,
    requestsPerMinute: boundsOf(rateLimit?.requestsPerMinute),
    concurrent: boundsOf(rateLimit?.concurrent),
    tokensPerMinute: boundsOf(rateLimit?.tokensPerMinute),
    budgets: declarePolicyBudgets(spec.budgets),
  };
}

/** Policy that asks for nothing. */
export const NO_RULES: DeclaredPolicy = declarePolicy("", { teamSelector: {}, gracePeriod: "0s" });

function durationOf(text: string | undefined): number | null {
  return text === undefined ? null : parseDuration(text);
}

function boundsOf(bounds: { readonly default?: number; readonly max?: number } | undefined): Bounds {
  return { default: bounds?.default ?? null, max: bounds?.max ?? null };
}
