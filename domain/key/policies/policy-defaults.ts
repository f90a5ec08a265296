import { withPolicyBudgets } from "./bound-budgets.ts";
import { lowest } from "./bounds.ts";
import type { DeclaredPolicy } from "./declared-policy.ts";
import type { JudgedKey } from "./judge-key.ts";

/** Defaults that policies give a key that declares nothing; of several the strictest. Milliseconds; null for none. */
export type PolicyDefaults = {
  readonly expiresAfter: number | null;
  readonly requestsPerMinute: number | null;
  readonly concurrent: number | null;
  readonly tokensPerMinute: number | null;
};

/** Returns the strictest defaults of several policies: none exceeds the maximum of another policy. */
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

/** Returns the key with its policies' defaults for what it does not declare: effective values, which no spec has. */
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

/** Returns a policy's rate, with a burst of a minute's requests, in the scope of the token limit; null for none. */
function rateOf(requestsPerMinute: number | null, { tokenLimit }: JudgedKey): JudgedKey["rateLimit"] {
  const scope = tokenLimit?.scope ?? "Replica";
  return requestsPerMinute === null ? null : { requestsPerMinute, burst: requestsPerMinute, scope };
}

/** Returns the token limit that a policy sets, in the scope of the key's rate limit; null for none. */
function tokensOf(tokensPerMinute: number | null, { rateLimit }: JudgedKey): JudgedKey["tokenLimit"] {
  return tokensPerMinute === null ? null : { tokensPerMinute, scope: rateLimit?.scope ?? "Replica" };
}
