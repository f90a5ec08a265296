import { withPolicyBudgets } from "./bound-budgets.ts";
import { lowest } from "./bounds.ts";
import type { DeclaredPolicy } from "./declared-policy.ts";
import type { JudgedKey } from "./judge-key.ts";

/** What policies give a key that declares nothing of it: of several the strictest. Milliseconds; null for nothing. */
export type PolicyDefaults = {
  readonly expiresAfter: number | null;
  readonly requestsPerMinute: number | null;
  readonly concurrent: number | null;
  readonly tokensPerMinute: number | null;
};

/** The strictest defaults of several policies: none goes beyond what another one allows at most. */
export function policyDefaults(policies: readonly DeclaredPolicy[]): PolicyDefaults {
  return {
    expiresAfter: strictest(policies.map(({ expiry }) => expiry)),
    requestsPerMinute: strictest(policies.map(({ requestsPerMinute }) => requestsPerMinute)),
    concurrent: strictest(policies.map(({ concurrent }) => concurrent)),
    tokensPerMinute: strictest(policies.map(({ tokensPerMinute }) => tokensPerMinute)),
  };
}

function strictest(bounds: readonly DeclaredPolicy["expiry"][]): number | null {
  const given = lowest(bounds.map((one) => one.default));
  return given === null ? null : lowest([given, ...bounds.map(({ max }) => max)]);
}

/** The key with the defaults of its policies where it declares nothing: effective values, which no spec has. */
export function withPolicyDefaults<K extends JudgedKey>(key: K, policies: readonly DeclaredPolicy[]): K {
  const { expiresAfter, requestsPerMinute, concurrent, tokensPerMinute } = policyDefaults(policies);
  return {
    ...key,
    expiresAfter: key.expiresAt === null ? (key.expiresAfter ?? expiresAfter) : key.expiresAfter,
    rateLimit: key.rateLimit ?? rateOf(requestsPerMinute, key),
    concurrent: key.concurrent ?? concurrent,
    tokenLimit: key.tokenLimit ?? tokensOf(tokensPerMinute, key),
    budgets: withPolicyBudgets(key.budgets, policies),
  };
}

/** A rate that a policy sets, a minute's worth at once, counted where the key's tokens are; null for none. */
function rateOf(requestsPerMinute: number | null, { tokenLimit }: JudgedKey): JudgedKey["rateLimit"] {
  const scope = tokenLimit?.scope ?? "Replica";
  return requestsPerMinute === null ? null : { requestsPerMinute, burst: requestsPerMinute, scope };
}

/** Tokens that a policy sets, counted where the key's requests are; null for none. */
function tokensOf(tokensPerMinute: number | null, { rateLimit }: JudgedKey): JudgedKey["tokenLimit"] {
  return tokensPerMinute === null ? null : { tokensPerMinute, scope: rateLimit?.scope ?? "Replica" };
}
